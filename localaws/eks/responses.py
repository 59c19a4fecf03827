"""EKS's operations that moto lacks, in the shapes of its service model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.eks.responses import EKSResponse
from moto.moto_api._internal import mock_random

from localaws.eks.backend import KubernetesBackend
from localaws.eks.belongings import Shown
from localaws.eks.versions import VERSIONS

PATHS = (
    "{0}/cluster-versions$",
    "{0}/clusters/(?P<name>[^/]+)/updates$",
    "{0}/clusters/(?P<name>[^/]+)/node-groups/(?P<nodegroupName>[^/]+)/update-version$",
    "{0}/clusters/(?P<name>[^/]+)/addons$",
    "{0}/clusters/(?P<name>[^/]+)/addons/(?P<addonName>[^/]+)$",
    "{0}/clusters/(?P<name>[^/]+)/addons/(?P<addonName>[^/]+)/update$",
    "{0}/clusters/(?P<name>[^/]+)/access-entries$",
    # With the ARN of a role or a user, which has a slash.
    "{0}/clusters/(?P<name>[^/]+)/access-entries/(?P<principalArn>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/pod-identity-associations$",
    "{0}/clusters/(?P<name>[^/]+)/pod-identity-associations/(?P<associationId>[^/]+)$",
)
"""Where moto has no operation."""


class KubernetesResponse(EKSResponse):
    """One method an operation; moto finds it by the operation's name."""

    def __init__(self) -> None:
        super().__init__()
        self.automated_parameter_parsing = True

    @property
    def _backend(self) -> KubernetesBackend:
        return cast(KubernetesBackend, self.eks_backend)

    @property
    def _request(self) -> Shown:
        return dict(self.params)

    def create_cluster(self) -> ActionResult:
        self._backend.check_cluster(self._request)
        result = super().create_cluster()
        self._backend.set_more(self._backend.clusters[self._request["name"]], self._request)
        return result

    def update_cluster_config(self) -> ActionResult:
        request = self._request
        cluster = self._backend.describe_cluster(request["name"])
        if wanted := request.get("resourcesVpcConfig"):
            # One that is not named stays.
            merged = {**cluster.resources_vpc_config, **wanted}
            self._backend.check_cluster({"resourcesVpcConfig": merged})
            cluster.resources_vpc_config = merged
        if "logging" in request:
            cluster.logging = request["logging"]
        self._backend.set_more(cluster, request)
        return _update("ConfigUpdate")

    def update_cluster_version(self) -> ActionResult:
        self._backend.raise_version(self._request["name"], self._request["version"])
        return _update("VersionUpdate")

    def describe_cluster_versions(self) -> ActionResult:
        wanted = self._request.get("clusterVersions") or list(VERSIONS)
        return ActionResult(
            {"clusterVersions": [_version(name) for name in wanted if name in VERSIONS]}
        )

    def create_nodegroup(self) -> ActionResult:
        request = self._request
        self._backend.check_node_group(request)
        result = super().create_nodegroup()
        group = self._backend.describe_nodegroup(request["clusterName"], request["nodegroupName"])
        group.update_config = request.get("updateConfig")
        if "releaseVersion" not in request:
            group.release_version = f"{group.version}.0-20260714"
        return result

    def update_nodegroup_version(self) -> ActionResult:
        request = self._request
        group = self._backend.describe_nodegroup(request["clusterName"], request["nodegroupName"])
        self._backend.update_node_group(group, request)
        return _update("VersionUpdate")

    def create_addon(self) -> ActionResult:
        return ActionResult({"addon": self._backend.create_addon(self._request)})

    def describe_addon(self) -> ActionResult:
        request = self._request
        found = self._backend.addon(request["clusterName"], request["addonName"])
        return ActionResult({"addon": found})

    def list_addons(self) -> ActionResult:
        cluster = self._request["clusterName"]
        names = sorted(name for owner, name in self._backend.addons if owner == cluster)
        return ActionResult({"addons": names})

    def update_addon(self) -> ActionResult:
        self._backend.update_addon(self._request)
        return _update("AddonUpdate")

    def delete_addon(self) -> ActionResult:
        request = self._request
        gone = self._backend.delete_addon(request["clusterName"], request["addonName"])
        return ActionResult({"addon": gone})

    def create_access_entry(self) -> ActionResult:
        return ActionResult({"accessEntry": self._backend.create_entry(self._request)})

    def describe_access_entry(self) -> ActionResult:
        return ActionResult({"accessEntry": self._backend.entry(*self._entry)})

    def list_access_entries(self) -> ActionResult:
        cluster = self._request["clusterName"]
        principals = sorted(arn for owner, arn in self._backend.entries if owner == cluster)
        return ActionResult({"accessEntries": principals})

    def delete_access_entry(self) -> EmptyResult:
        self._backend.entry(*self._entry)
        del self._backend.entries[self._entry], self._backend.entry_policies[self._entry]
        return EmptyResult()

    def associate_access_policy(self) -> ActionResult:
        request, key = self._request, self._entry
        self._backend.entry(*key)
        policy = {"policyArn": request["policyArn"], "accessScope": request["accessScope"]}
        self._backend.entry_policies[key][request["policyArn"]] = policy
        return ActionResult(
            {"clusterName": key[0], "principalArn": key[1], "associatedAccessPolicy": policy}
        )

    def disassociate_access_policy(self) -> EmptyResult:
        self._backend.entry(*self._entry)
        self._backend.entry_policies[self._entry].pop(self._request["policyArn"], None)
        return EmptyResult()

    def list_associated_access_policies(self) -> ActionResult:
        key = self._entry
        self._backend.entry(*key)
        policies = list(self._backend.entry_policies[key].values())
        return ActionResult(
            {"clusterName": key[0], "principalArn": key[1], "associatedAccessPolicies": policies}
        )

    @property
    def _entry(self) -> tuple[str, str]:
        return self._request["clusterName"], self._request["principalArn"]

    def create_pod_identity_association(self) -> ActionResult:
        return ActionResult({"association": self._backend.create_association(self._request)})

    def describe_pod_identity_association(self) -> ActionResult:
        found = self._backend.association(self._request["associationId"])
        return ActionResult({"association": found})

    def list_pod_identity_associations(self) -> ActionResult:
        cluster = self._request["clusterName"]
        found = [e for e in self._backend.associations.values() if e["clusterName"] == cluster]
        return ActionResult({"associations": found})

    def update_pod_identity_association(self) -> ActionResult:
        found = self._backend.association(self._request["associationId"])
        found["roleArn"] = self._request.get("roleArn", found["roleArn"])
        return ActionResult({"association": found})

    def delete_pod_identity_association(self) -> ActionResult:
        found = self._backend.association(self._request["associationId"])
        del self._backend.associations[found["associationId"]]
        return ActionResult({"association": found})


def _update(kind: str) -> ActionResult:
    """Return an update that is done when it is asked for."""
    return ActionResult(
        {
            "update": {
                "id": str(mock_random.uuid4()),
                "status": "Successful",
                "type": kind,
                "params": [],
                "errors": [],
            }
        }
    )


def _version(name: str) -> dict[str, Any]:
    released, ends = VERSIONS[name]
    return {
        "clusterVersion": name,
        "releaseDate": _date(released),
        "endOfStandardSupportDate": _date(ends),
        "versionStatus": (
            "STANDARD_SUPPORT" if _date(ends) > datetime.now(UTC) else "EXTENDED_SUPPORT"
        ),
    }


def _date(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T00:00:00+00:00")
