"""AWS::EKS::Cluster."""

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


class KubernetesCluster(Resource):
    """A control plane."""

    TYPE = "AWS::EKS::Cluster"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 100

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        cluster = aws.client("eks").create_cluster(
            name=name,
            tags=as_map(properties.get("Tags", [])),
            **camel(only(properties, _OF_CREATION)),
            **_logging(properties),
        )["cluster"]
        return cls(
            name,
            Arn=cluster["arn"],
            Endpoint=cluster["endpoint"],
            CertificateAuthorityData=cluster["certificateAuthority"]["data"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        eks, name = aws.client("eks"), self.physical_resource_id
        differs = set(changed(old, new))
        known = {"Version", "Logging", "Tags", *_CHANGED_ALONE}
        if differs - known:
            raise CannotUpdate(", ".join(sorted(differs - known)))
        # EKS takes one kind of change a call.
        if "Version" in differs:
            eks.update_cluster_version(name=name, version=new["Version"])
        if "Logging" in differs:
            eks.update_cluster_config(name=name, **_logging(new))
        for each in _CHANGED_ALONE:
            if each in differs:
                eks.update_cluster_config(name=name, **camel(only(new, (each,))))
        set_tags(eks, self.attributes["Arn"], old, new)

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("eks").describe_cluster(name=self.physical_resource_id)["cluster"]
        kinds = [
            {"Type": kind}
            for each in shown["logging"]["clusterLogging"]
            if each["enabled"]
            for kind in each["types"]
        ]
        return {
            "Name": shown["name"],
            "Version": shown["version"],
            "RoleArn": shown["roleArn"],
            "ResourcesVpcConfig": spelled(shown["resourcesVpcConfig"]),
            "EncryptionConfig": spelled(shown.get("encryptionConfig", [])),
            "Logging": {"ClusterLogging": {"EnabledTypes": kinds}},
            "UpgradePolicy": spelled(shown.get("upgradePolicy", {})),
            "DeletionProtection": shown.get("deletionProtection", False),
            "Tags": as_list(shown["tags"]),
        }

    def delete(self, aws: Aws) -> None:
        aws.client("eks").delete_cluster(name=self.physical_resource_id)


_OF_CREATION = (
    "AccessConfig",
    "BootstrapSelfManagedAddons",
    "DeletionProtection",
    "EncryptionConfig",
    "KubernetesNetworkConfig",
    "ResourcesVpcConfig",
    "RoleArn",
    "UpgradePolicy",
    "Version",
)
_CHANGED_ALONE = ("ResourcesVpcConfig", "UpgradePolicy", "DeletionProtection")


def _logging(properties: Properties) -> dict[str, Any]:
    kinds = properties.get("Logging", {}).get("ClusterLogging", {}).get("EnabledTypes", [])
    wanted = [each["Type"] for each in kinds]
    return {"logging": {"clusterLogging": [{"types": wanted, "enabled": True}]}} if wanted else {}
