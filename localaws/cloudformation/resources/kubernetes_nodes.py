"""AWS::EKS::Nodegroup."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import (
    CannotUpdate,
    Properties,
    Resource,
    camel,
    changed,
    only,
)
from localaws.eks.spelling import set_tags, spelled


class NodeGroup(Resource):
    """A managed node group. Its Ref is the cluster's name and its own."""

    TYPE = "AWS::EKS::Nodegroup"
    NAME_PROPERTY = "NodegroupName"
    NAME_LIMIT = 63
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        cluster = properties["ClusterName"]
        group = aws.client("eks").create_nodegroup(
            clusterName=cluster,
            nodegroupName=name,
            scalingConfig=_sizes(properties),
            **camel(only(properties, _OF_GROUP)),
            # Keys of these are the user's.
            **{key.lower(): properties[key] for key in ("Labels", "Tags") if key in properties},
        )["nodegroup"]
        return cls(
            f"{cluster}/{name}",
            Arn=group["nodegroupArn"],
            ClusterName=cluster,
            NodegroupName=name,
            Id=f"{cluster}/{name}",
        )

    @property
    def _names(self) -> dict[str, str]:
        return {
            "clusterName": self.attributes["ClusterName"],
            "nodegroupName": self.attributes["NodegroupName"],
        }

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        eks = aws.client("eks")
        differs = set(changed(old, new))
        known = {"Version", "ReleaseVersion", "LaunchTemplate", "Tags", *_OF_CONFIG}
        if differs - known:
            raise CannotUpdate(", ".join(sorted(differs - known)))
        if differs & {"Version", "ReleaseVersion", "LaunchTemplate"}:
            eks.update_nodegroup_version(
                **self._names, **camel(only(new, ("Version", "ReleaseVersion", "LaunchTemplate")))
            )
        set_tags(eks, self.attributes["Arn"], old, new)
        if differs & set(_OF_CONFIG):
            gone = set(old.get("Labels", {})) - set(new.get("Labels", {}))
            eks.update_nodegroup_config(
                **self._names,
                labels={
                    "addOrUpdateLabels": new.get("Labels", {}),
                    "removeLabels": sorted(gone),
                },
                scalingConfig=_sizes(new),
                **camel(only(new, ("UpdateConfig",))),
            )

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("eks").describe_nodegroup(**self._names)["nodegroup"]
        return {
            "AmiType": shown["amiType"],
            "CapacityType": shown["capacityType"],
            "Version": shown["version"],
            "ReleaseVersion": shown["releaseVersion"],
            "NodeRole": shown["nodeRole"],
            "Subnets": shown["subnets"],
            "ScalingConfig": spelled(shown["scalingConfig"]),
            "UpdateConfig": spelled(shown.get("updateConfig", {})),
            "Taints": spelled(shown.get("taints", [])),
            "LaunchTemplate": spelled(shown["launchTemplate"]),
            "Labels": shown["labels"],
            "Tags": shown["tags"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("eks").delete_nodegroup(**self._names)


_OF_GROUP = (
    "AmiType",
    "CapacityType",
    "InstanceTypes",
    "LaunchTemplate",
    "NodeRole",
    "ReleaseVersion",
    "Subnets",
    "Taints",
    "UpdateConfig",
    "Version",
)
_OF_CONFIG = ("Labels", "ScalingConfig", "UpdateConfig")


def _sizes(properties: Properties) -> dict[str, int]:
    """Return the sizes as numbers: a template may have them as text."""
    given = camel(properties.get("ScalingConfig", {}))
    return {name: int(value) for name, value in given.items()}
