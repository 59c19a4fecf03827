"""A managed node group of EKS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from constructs import Construct

from stacks.constructs.node_launch import NodeLaunch, launch_template

Group = eks.CfnNodegroup

AmiType = Literal["AL2023_x86_64_STANDARD", "AL2023_x86_64_NVIDIA"]

NODE_LABEL = "mask-rcnn/node"
"""`gpu` or `system`: where a pod is to run."""

GPU_TAINT = "nvidia.com/gpu"
"""Keeps pods without need of a GPU off its nodes."""

RESOURCE_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
"""Begins a tag of the node group that tells the autoscaler what a node will have that is not there
yet. It reads labels and taints of a managed group by itself.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
"""

USER_DATA_WITH_NVME = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0

--//--
"""
"""Puts images, the pods' own files and their logs on all local disks together; EKS adds its part.

https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
"""


@dataclass(frozen=True, kw_only=True)
class NodeGroupOptions:
    """How many nodes there are, of which kind."""

    ami_type: AmiType
    version: str
    release: str | None
    least: int
    most: int
    labels: Mapping[str, str]
    is_tainted: bool = False
    has_nvme: bool = False
    resources: Mapping[str, str] = field(default_factory=dict)
    """What a node will have, by Kubernetes' name, for the autoscaler."""


class KubernetesNodes(Construct):
    """Nodes of a cluster that EKS starts, replaces, drains and ends.

    A managed group, since its labels and taints are where the autoscaler and the kubelet both read
    them, EKS admits its nodes to the cluster, and pods are drained before a node goes. It is
    sized by the autoscaler between the bounds here.

    Neither Karpenter nor Auto Mode: they know no placement groups, and pick types where ranks of a
    job have to be alike (docs/architecture.md has the comparison).

    The group has no name of ours: what makes it anew, such as spot or another zone, is made beside
    the old one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.CfnCluster,
        role_arn: str,
        subnets: Sequence[ec2.ISubnet],
        launch: NodeLaunch,
        options: NodeGroupOptions,
        tags: Mapping[str, str],
    ) -> None:
        """Build it.

        Args:
            cluster: Whose nodes they are.
            role_arn: Of the nodes; EKS makes the instance profile.
            subnets: Where they are.
            launch: What each is launched with. Spot is said by the group, for EKS refuses it here.
            options: How many, of which kind.
            tags: Of the group.
        """
        super().__init__(scope, construct_id)
        is_spot = launch.market == "spot"
        template = launch_template(
            self,
            "Launch",
            launch=replace(launch, market="on-demand") if is_spot else launch,
            user_data=USER_DATA_WITH_NVME if options.has_nvme else None,
        )
        self.group = Group(
            self,
            "Group",
            cluster_name=cluster.ref,
            node_role=role_arn,
            subnets=[subnet.subnet_id for subnet in subnets],
            ami_type=options.ami_type,
            version=options.version,
            release_version=options.release,
            capacity_type=_CAPACITY[launch.market],
            launch_template=Group.LaunchTemplateSpecificationProperty(
                id=template.ref, version=template.attr_latest_version_number
            ),
            scaling_config=Group.ScalingConfigProperty(
                min_size=options.least, desired_size=options.least, max_size=options.most
            ),
            labels=dict(options.labels),
            taints=(
                [Group.TaintProperty(key=GPU_TAINT, value="true", effect="NO_SCHEDULE")]
                if options.is_tainted
                else None
            ),
            # A quarter at a time, so that an elastic job goes on meanwhile.
            update_config=Group.UpdateConfigProperty(max_unavailable_percentage=25),
            tags={
                **tags,
                **{f"{RESOURCE_TAG}{name}": amount for name, amount in options.resources.items()},
            },
        )

    @property
    def name(self) -> str:
        """What EKS names the group."""
        return self.group.attr_nodegroup_name


_CAPACITY = {"on-demand": "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
