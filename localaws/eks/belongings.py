"""What EKS keeps of a cluster beside its nodes: add-ons, access entries, roles of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.utils import utcnow
from moto.eks.exceptions import ResourceInUseException, ResourceNotFoundException
from moto.eks.models import Cluster
from moto.moto_api._internal import mock_random

Request = Mapping[str, Any]
Shown = dict[str, Any]


class Belongings:
    """A part of EKS's state in one region."""

    partition: str
    region_name: str
    account_id: str

    def begin_without_belongings(self) -> None:
        self.addons: dict[tuple[str, str], Shown] = {}
        self.entries: dict[tuple[str, str], Shown] = {}
        self.entry_policies: dict[tuple[str, str], dict[str, Shown]] = {}
        self.associations: dict[str, Shown] = {}

    def forget_belongings(self, cluster: str) -> None:
        """Forget all of a cluster that goes."""
        self.addons = {key: each for key, each in self.addons.items() if key[0] != cluster}
        self.entries = {key: each for key, each in self.entries.items() if key[0] != cluster}
        self.entry_policies = {key: self.entry_policies[key] for key in self.entries}
        self.associations = {
            key: each for key, each in self.associations.items() if each["clusterName"] != cluster
        }

    def tags_of_belongings(self, arn: str) -> dict[str, str] | None:
        """Return the tags of one of them, to be changed; None where there is none of that ARN."""
        named = {
            **{each["addonArn"]: each for each in self.addons.values()},
            **{each["accessEntryArn"]: each for each in self.entries.values()},
            **{each["associationArn"]: each for each in self.associations.values()},
        }
        return named[arn].setdefault("tags", {}) if arn in named else None

    def describe_cluster(self, name: str) -> Cluster:
        """Return a cluster; the backend has them.

        Raises:
            ResourceNotFoundException: There is none of that name.
        """
        raise NotImplementedError

    def create_addon(self, request: Request) -> Shown:
        """Install an add-on.

        Raises:
            ResourceInUseException: It is there already.
        """
        cluster = self.describe_cluster(request["clusterName"])
        key = (cluster.name, request["addonName"])
        if key in self.addons:
            raise ResourceInUseException(
                clusterName=cluster.name, addonName=key[1], message="Addon already exists."
            )
        arn = f"arn:{self.partition}:eks:{self.region_name}:{self.account_id}:addon"
        self.addons[key] = {
            "addonVersion": "v1.0.0-eksbuild.1",
            **_only(
                request, ("clusterName", "addonName", "addonVersion", "configurationValues", "tags")
            ),
            "status": "ACTIVE",
            "health": {"issues": []},
            "addonArn": f"{arn}/{cluster.name}/{key[1]}/{mock_random.uuid4()}",
            "createdAt": utcnow(),
            "modifiedAt": utcnow(),
            "podIdentityAssociations": self._associate(key, request),
        }
        return self.addons[key]

    def update_addon(self, request: Request) -> None:
        addon = self.addon(request["clusterName"], request["addonName"])
        addon |= _only(request, ("addonVersion", "configurationValues"))
        if "podIdentityAssociations" in request:
            self._dissociate(addon)
            key = (addon["clusterName"], addon["addonName"])
            addon["podIdentityAssociations"] = self._associate(key, request)

    def delete_addon(self, cluster: str, name: str) -> Shown:
        addon = self.addon(cluster, name)
        self._dissociate(addon)
        return self.addons.pop((cluster, name))

    def addon(self, cluster: str, name: str) -> Shown:
        return _found(self.addons, (cluster, name), f"No addon: {name} found in cluster: {cluster}")

    def _associate(self, key: tuple[str, str], request: Request) -> list[str]:
        cluster, _ = key
        return [
            self.create_association(
                {"clusterName": cluster, "namespace": "kube-system", **given}, owner=key[1]
            )["associationArn"]
            for given in request.get("podIdentityAssociations") or []
        ]

    def _dissociate(self, addon: Shown) -> None:
        for arn in addon["podIdentityAssociations"]:
            del self.associations[arn.rpartition("/")[2]]

    def create_association(self, request: Request, *, owner: str | None = None) -> Shown:
        """Give a service account a role.

        Raises:
            ResourceInUseException: It has one.
        """
        cluster = self.describe_cluster(request["clusterName"])
        account = request["clusterName"], request["namespace"], request["serviceAccount"]
        for each in self.associations.values():
            if (each["clusterName"], each["namespace"], each["serviceAccount"]) == account:
                raise ResourceInUseException(
                    clusterName=cluster.name,
                    message="Association already exists: " + each["associationId"],
                )
        identifier = "a-" + mock_random.get_random_string(17).lower()
        arn = f"arn:{self.partition}:eks:{self.region_name}:{self.account_id}"
        self.associations[identifier] = {
            "tags": {},
            **_only(request, ("clusterName", "namespace", "serviceAccount", "roleArn", "tags")),
            "associationId": identifier,
            "associationArn": f"{arn}:podidentityassociation/{cluster.name}/{identifier}",
            "ownerArn": owner,
            "createdAt": utcnow(),
            "modifiedAt": utcnow(),
        }
        return self.associations[identifier]

    def association(self, identifier: str) -> Shown:
        return _found(self.associations, identifier, f"No association {identifier} found")

    def create_entry(self, request: Request) -> Shown:
        """Let somebody into a cluster.

        Raises:
            ResourceInUseException: They are in.
        """
        cluster = self.describe_cluster(request["clusterName"])
        key = (cluster.name, request["principalArn"])
        if key in self.entries:
            raise ResourceInUseException(
                clusterName=cluster.name,
                message="The specified access entry resource is already in use on this cluster.",
            )
        arn = f"arn:{self.partition}:eks:{self.region_name}:{self.account_id}:access-entry"
        self.entries[key] = {
            "kubernetesGroups": [],
            "tags": {},
            "type": "STANDARD",
            "username": key[1],
            **_only(request, ("kubernetesGroups", "tags", "type", "username")),
            "clusterName": cluster.name,
            "principalArn": key[1],
            "accessEntryArn": f"{arn}/{cluster.name}/{mock_random.uuid4()}",
            "createdAt": utcnow(),
            "modifiedAt": utcnow(),
        }
        self.entry_policies[key] = {}
        return self.entries[key]

    def entry(self, cluster: str, principal: str) -> Shown:
        return _found(
            self.entries,
            (cluster, principal),
            f"The specified principalArn could not be found: {principal}",
        )


def _only(request: Request, names: tuple[str, ...]) -> Shown:
    return {name: request[name] for name in names if request.get(name) is not None}


def _found(kept: Mapping[Any, Shown], key: Any, message: str) -> Shown:
    if key not in kept:
        raise ResourceNotFoundException(message=message)
    return kept[key]
