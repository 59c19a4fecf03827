"""EKS's state in one region: moto's clusters and node groups, add-ons, entries, associations."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.eks import urls
from moto.eks.exceptions import (
    InvalidParameterException,
    InvalidRequestException,
    ResourceNotFoundException,
)
from moto.eks.models import Cluster, EKSBackend, Nodegroup

from localaws.eks.belongings import Belongings, Request, Shown
from localaws.eks.launch_rules import problems_of_launch
from localaws.eks.versions import VERSIONS, minor

FEWEST_ZONES = 2

_OF_CLUSTER = {
    "accessConfig": "access_config",
    "upgradePolicy": "upgrade_policy",
    "deletionProtection": "deletion_protection",
}
"""What moto leaves out of a cluster, to the attribute that it is kept under."""


class KubernetesBackend(EKSBackend, Belongings):
    """The clusters of one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.begin_without_belongings()

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def check_cluster(self, request: Request) -> None:
        """Refuse a request for a cluster as EKS does.

        Raises:
            InvalidParameterException: Its subnets or its version will not do.
        """
        if (version := request.get("version")) and version not in VERSIONS:
            raise InvalidParameterException(message=f"unsupported Kubernetes version {version}")
        zones = {subnet.availability_zone for subnet in self._subnets(request)}
        if len(zones) < FEWEST_ZONES:
            raise InvalidParameterException(
                message="Subnets specified must be in at least two different AZs"
            )

    def _subnets(self, request: Request) -> list[Any]:
        ids = request["resourcesVpcConfig"].get("subnetIds", [])
        ec2 = ec2_backends[self.account_id][self.region_name]
        return list(ec2.describe_subnets(subnet_ids=ids)) if ids else []

    def set_more(self, cluster: Cluster, request: Request) -> None:
        """Keep what moto leaves out."""
        for name, attribute in _OF_CLUSTER.items():
            if name in request:
                setattr(cluster, attribute, request[name])

    def delete_cluster(self, name: str) -> Cluster:
        if getattr(self.describe_cluster(name), "deletion_protection", False):
            raise InvalidRequestException(
                message=f"Cluster {name} has deletion protection: take that away first"
            )
        deleted = super().delete_cluster(name)
        self.forget_belongings(name)
        return deleted

    def raise_version(self, name: str, version: str) -> None:
        """Raise a cluster's version by one minor version.

        Raises:
            InvalidParameterException: It is another step.
        """
        cluster = self.describe_cluster(name)
        if version not in VERSIONS or minor(version) - minor(cluster.version) != 1:
            raise InvalidParameterException(
                message=f"Unsupported Kubernetes minor version update from {cluster.version} to "
                f"{version}"
            )
        cluster.version = version

    def check_node_group(self, request: Request) -> None:
        """Refuse a request for a node group as EKS does.

        Raises:
            InvalidParameterException: The launch template or the sizes will not do.
        """
        template = request.get("launchTemplate")
        data = self._launch_data(template) if template else {}
        for problem in problems_of_launch(data, request):
            raise InvalidParameterException(message=problem)
        sizes = request.get("scalingConfig", {})
        if not sizes.get("minSize", 0) <= sizes.get("desiredSize", 0) <= sizes.get("maxSize", 0):
            raise InvalidParameterException(
                message="Minimum capacity can't be greater than desired, nor that than maximum"
            )

    def _launch_data(self, template: Request) -> Shown:
        from localaws.cloudformation.aws import Aws

        found = Aws(self.region_name).ec2.describe_launch_template_versions(
            LaunchTemplateId=template["id"], Versions=[template.get("version", "$Default")]
        )
        data: Shown = found["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        return data

    def update_node_group(self, group: Nodegroup, request: Request) -> None:
        """Change the version, the release or the launch template of a group.

        Raises:
            InvalidParameterException: Its nodes would be newer than the cluster.
        """
        cluster = self.describe_cluster(group.cluster_name)
        version = request.get("version", group.version)
        if minor(version) > minor(cluster.version):
            raise InvalidParameterException(
                message=f"Nodegroup Kubernetes version {version} is newer than the cluster's"
            )
        if template := request.get("launchTemplate"):
            for problem in problems_of_launch(
                self._launch_data(template), {"capacityType": group.capacity_type}
            ):
                raise InvalidParameterException(message=problem)
            group.launch_template = dict(template)
        group.version = version
        group.release_version = request.get("releaseVersion", f"{version}.0-20260714")
        group.modified_at = utcnow()

    def _tags(self, arn: str) -> dict[str, str]:
        """Return the tags of a resource, to be changed.

        Raises:
            ResourceNotFoundException: There is no such resource.
        """
        found: dict[str, str] | None = self.tags_of_belongings(arn)
        for cluster in self.clusters.values():
            if cluster.arn == arn:
                found = cluster.tags
            for group in cluster.nodegroups.values():
                if group.arn == arn:
                    found = group.tags
        if found is None:
            raise ResourceNotFoundException(message=f"Resource was not found: {arn}")
        return found

    def tag_resource(self, resource_arn: str, tags: dict[str, str]) -> None:
        self._tags(resource_arn).update(tags)

    def untag_resource(self, resource_arn: str, tag_keys: list[str]) -> None:
        tags = self._tags(resource_arn)
        for key in tag_keys:
            tags.pop(key, None)

    def list_tags_for_resource(self, resource_arn: str) -> dict[str, str]:
        return self._tags(resource_arn)
