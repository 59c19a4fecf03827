"""What EKS adds to a cluster: add-ons, access entries and roles of pods."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import (
    CannotUpdate,
    Properties,
    Resource,
    camel,
    changed,
    only,
)
from localaws.eks.spelling import as_list, as_map, set_tags, spelled


class Addon(Resource):
    """An add-on. Its Ref is the cluster's name and its own."""

    TYPE = "AWS::EKS::Addon"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        cluster, addon = properties["ClusterName"], properties["AddonName"]
        made = aws.client("eks").create_addon(
            clusterName=cluster,
            addonName=addon,
            tags=as_map(properties.get("Tags", [])),
            **camel(only(properties, _OF_ADDON)),
        )["addon"]
        return cls(f"{cluster}|{addon}", Arn=made["addonArn"])

    @property
    def _names(self) -> dict[str, str]:
        cluster, _, addon = self.physical_resource_id.partition("|")
        return {"clusterName": cluster, "addonName": addon}

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        eks = aws.client("eks")
        if set(changed(old, new)) - {"Tags"}:
            eks.update_addon(**self._names, **camel(only(new, _OF_ADDON)))
        set_tags(eks, self.attributes["Arn"], old, new)

    def read(self, aws: Aws) -> Properties:
        eks = aws.client("eks")
        shown = eks.describe_addon(**self._names)["addon"]
        return {
            "AddonVersion": shown["addonVersion"],
            "ConfigurationValues": shown.get("configurationValues"),
            "PodIdentityAssociations": [
                self._association(eks, arn) for arn in shown["podIdentityAssociations"]
            ],
            "Tags": as_list(shown["tags"]),
        }

    def _association(self, eks: Any, arn: str) -> Properties:
        found = eks.describe_pod_identity_association(
            clusterName=self._names["clusterName"], associationId=arn.rpartition("/")[2]
        )["association"]
        return {"RoleArn": found["roleArn"], "ServiceAccount": found["serviceAccount"]}

    def delete(self, aws: Aws) -> None:
        aws.client("eks").delete_addon(**self._names)


_OF_ADDON = ("AddonVersion", "ConfigurationValues", "PodIdentityAssociations", "ResolveConflicts")


class AccessEntry(Resource):
    """Somebody who may enter a cluster, and the policies that say what for."""

    TYPE = "AWS::EKS::AccessEntry"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        cluster, principal = properties["ClusterName"], properties["PrincipalArn"]
        made = aws.client("eks").create_access_entry(
            clusterName=cluster,
            principalArn=principal,
            tags=as_map(properties.get("Tags", [])),
            **camel(only(properties, ("KubernetesGroups", "Username", "Type"))),
        )["accessEntry"]
        return cls(f"{principal}|{cluster}", AccessEntryArn=made["accessEntryArn"])

    @property
    def _names(self) -> dict[str, str]:
        principal, _, cluster = self.physical_resource_id.partition("|")
        return {"clusterName": cluster, "principalArn": principal}

    def complete(self, aws: Aws, properties: Properties) -> None:
        for policy in properties.get("AccessPolicies", []):
            aws.client("eks").associate_access_policy(**self._names, **camel(policy))

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        if set(changed(old, new)) - {"AccessPolicies", "Tags"}:
            raise CannotUpdate(", ".join(changed(old, new)))
        set_tags(aws.client("eks"), self.attributes["AccessEntryArn"], old, new)
        for policy in old.get("AccessPolicies", []):
            if policy not in new.get("AccessPolicies", []):
                aws.client("eks").disassociate_access_policy(
                    **self._names, policyArn=policy["PolicyArn"]
                )
        self.complete(aws, new)

    def read(self, aws: Aws) -> Properties:
        eks = aws.client("eks")
        shown = eks.describe_access_entry(**self._names)["accessEntry"]
        policies = eks.list_associated_access_policies(**self._names)["associatedAccessPolicies"]
        return {
            "PrincipalArn": shown["principalArn"],
            "AccessPolicies": [
                {
                    "PolicyArn": each["policyArn"],
                    "AccessScope": {"Type": spelled(each["accessScope"])["Type"]},
                }
                for each in policies
            ],
            "Tags": as_list(shown["tags"]),
        }

    def delete(self, aws: Aws) -> None:
        aws.client("eks").delete_access_entry(**self._names)


class PodIdentityAssociation(Resource):
    """The role that pods of a service account get."""

    TYPE = "AWS::EKS::PodIdentityAssociation"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        made = aws.client("eks").create_pod_identity_association(
            tags=as_map(properties.get("Tags", [])),
            **camel(only(properties, ("ClusterName", "Namespace", "ServiceAccount", "RoleArn"))),
        )["association"]
        return cls(
            made["associationArn"],
            AssociationArn=made["associationArn"],
            AssociationId=made["associationId"],
        )

    @property
    def _names(self) -> dict[str, str]:
        _, cluster, identifier = self.physical_resource_id.split("/")
        return {"clusterName": cluster, "associationId": identifier}

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        eks = aws.client("eks")
        eks.update_pod_identity_association(**self._names, roleArn=new["RoleArn"])
        set_tags(eks, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("eks").describe_pod_identity_association(**self._names)["association"]
        return {
            "Namespace": shown["namespace"],
            "ServiceAccount": shown["serviceAccount"],
            "RoleArn": shown["roleArn"],
            "Tags": as_list(shown["tags"]),
        }

    def delete(self, aws: Aws) -> None:
        aws.client("eks").delete_pod_identity_association(**self._names)
