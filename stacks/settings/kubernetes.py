"""Settings of KubernetesStack."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from stacks.settings.arns import problems_of_principal_arn
from stacks.settings.cluster_types import (
    efa_interfaces_of,
    is_put_close,
    problems_of_type,
)
from stacks.settings.group import (
    CommaSeparated,
    OptionalText,
    Pairs,
    SettingsGroup,
    checked_by,
    prefixed,
    refuse,
)
from stacks.settings.kubernetes_rules import problems_of_gpu_type, problems_of_kubernetes
from stacks.settings.kubernetes_versions import (
    ADDONS,
    DEFAULT_VERSION,
    VERSIONS,
    problems_of_addons,
)
from stacks.settings.log_retention import RETENTION_ALLOWED, RetentionDays
from stacks.settings.text import shown

DEFAULT_NAME = "distributed-mask-rcnn"
MOST_GPU_NODES = 450
"""Nodes of one managed node group, a quota of EKS's that can be raised.

https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
"""
MOST_SYSTEM_NODES = 20
MOST_API_CIDRS = 40
"""https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html"""


def _read_network(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        network = ip_network(value)
    except ValueError as error:
        raise ValueError(f"{shown(value)} is no network ({error})") from error
    if not isinstance(network, IPv4Network):
        raise ValueError(f"{shown(value)} is an IPv6 network, and the cluster's API has IPv4 only")
    return network


def _problems_of_admins(arns: tuple[str, ...]) -> Iterator[str]:
    for arn in arns:
        yield from problems_of_principal_arn(arn)
    if len(set(arns)) != len(arns):
        yield "an ARN is there twice"


def _default_if_empty(name: Any) -> Any:
    return DEFAULT_NAME if name == "" else name


_Networks = Annotated[
    tuple[Annotated[IPv4Network, BeforeValidator(_read_network)], ...], CommaSeparated
]


class KubernetesSettings(SettingsGroup):
    """The EKS cluster: its control plane, its system nodes and its GPU nodes."""

    model_config = prefixed("eks_")

    name: Annotated[str, BeforeValidator(_default_if_empty)] = Field(
        default=DEFAULT_NAME,
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,62}$",
        description="1 to 63 letters, digits and hyphens, a letter first",
    )
    """Of the cluster and of its log group; another name is another cluster."""

    version: str = Field(default=DEFAULT_VERSION, description="one of " + ", ".join(VERSIONS))
    """Of Kubernetes. EKS raises a cluster by one minor version at a time, and never back. At the
    end of its standard support EKS raises it by itself; extended support, which costs six times as
    much, is off."""

    addon_versions: Annotated[Pairs, AfterValidator(checked_by(problems_of_addons))] = Field(
        default={},
        description="add-on=version, with commas between, of " + ", ".join(ADDONS),
    )
    """Add-ons to pin, such as `vpc-cni=v1.20.4-eksbuild.1`. One that is not named gets EKS's
    default version when it is installed, and keeps it."""

    node_release: OptionalText = Field(
        default=None,
        pattern=r"^1\.[0-9]{2}\.[0-9]{1,3}-20[0-9]{6}$",
        description="a release of EKS's AMIs, such as 1.35.6-20260714",
    )
    """Of all nodes. Without it: the newest when a node group is made, which keeps it until the
    version of Kubernetes changes. A new one replaces the nodes."""

    api_cidrs: _Networks = Field(
        default=(),
        description="public IPv4 networks such as 203.0.113.0/24, with commas between, at most "
        f"{MOST_API_CIDRS}; none wider than /8",
    )
    """Who reaches the cluster's API from outside. Without any it answers inside the VPC only, to
    members of the training security group."""

    allow_open_api: bool = Field(default=False, description="true or false")
    """Whether `eks_api_cidrs` may be wider than /8, 0.0.0.0/0 included."""

    admin_arns: Annotated[
        tuple[str, ...], CommaSeparated, AfterValidator(checked_by(_problems_of_admins))
    ] = Field(
        default=(),
        description="ARNs of IAM roles and users, such as arn:aws:iam::123456789012:role/Admin, "
        "with commas between",
    )
    """Who administers the cluster, and launches jobs. Nobody else may, whoever deploys included."""

    zone: int | None = Field(default=None, ge=1, le=6, description="1 to the number of zones")
    """The number of the private subnet of all GPU nodes: EFA does not leave a subnet, and traffic
    between zones is slower and costs. Without it: the one of FSx for Lustre, or the first."""

    gpu_instance_type: Annotated[
        str,
        AfterValidator(checked_by(problems_of_type)),
        AfterValidator(checked_by(problems_of_gpu_type)),
    ] = Field(
        default="p4d.24xlarge",
        max_length=64,
        description="an x86_64 instance type of EC2 with NVIDIA GPUs, such as p4d.24xlarge",
    )
    """Of the nodes that train. P3 is among them; P2 and G7 are not, for EKS's AMI does not drive
    their GPUs."""

    max_nodes: int = Field(default=4, ge=1, le=MOST_GPU_NODES, description=f"1 to {MOST_GPU_NODES}")
    """GPU nodes that jobs may have together. There is none before a job asks, and none after."""

    system_instance_type: Annotated[str, AfterValidator(checked_by(problems_of_type))] = Field(
        default="m6i.xlarge",
        max_length=64,
        description="an x86_64 instance type of EC2, such as m6i.xlarge",
    )
    """Of the nodes that stay: DNS, the autoscaler, the operator, launchers, Jupyter."""

    system_nodes: int = Field(
        default=2, ge=1, le=MOST_SYSTEM_NODES, description=f"1 to {MOST_SYSTEM_NODES}"
    )
    """How many stay, in the zones of the private subnets. The autoscaler adds as many again when
    they are full."""

    spot: bool = Field(default=False, description="true or false")
    """Whether GPU nodes are spot instances. System nodes never are."""

    placement_group: Literal["create", "none"] | None = Field(
        default=None, description="create or none"
    )
    """Whether GPU nodes are put close together. Without it: create, but for reserved capacity,
    which has its place already."""

    efa: Literal["auto", "none"] = Field(default="auto", description="auto or none")
    """Elastic Fabric Adapters of GPU nodes, as many as the type has."""

    capacity_reservation_id: OptionalText = Field(
        default=None,
        pattern=r"^cr-[0-9a-f]{8,17}$",
        description="the id of a capacity reservation, such as cr-0123456789abcdef0",
    )
    """Where GPU nodes are started, and nowhere else."""

    capacity_block: bool = Field(default=False, description="true or false")
    """Whether `eks_capacity_reservation_id` is a Capacity Block for ML."""

    volume_gib: int = Field(default=200, ge=50, le=16384, description="50 to 16384")
    """Of each node's disk. Where a type has local NVMe, images and the pods' own files are on
    that."""

    log_retention_days: RetentionDays = Field(default=365, description=RETENTION_ALLOWED)
    """Of what the control plane logs."""

    @field_validator("version")
    @classmethod
    def _version_is_offered(cls, version: str) -> str:
        if version not in VERSIONS:
            raise ValueError(
                f"the tools that come with this project speak with {', '.join(VERSIONS)}"
            )
        return version

    @model_validator(mode="after")
    def _they_go_together(self) -> Self:
        refuse(problems_of_kubernetes(self))
        return self

    @property
    def is_public(self) -> bool:
        """Whether the API answers to anybody outside of the VPC."""
        return bool(self.api_cidrs)

    @property
    def has_placement_group(self) -> bool:
        return is_put_close(
            self.placement_group,
            reservation=self.capacity_reservation_id,
            name=self.gpu_instance_type,
        )

    @property
    def gpu_efa(self) -> int:
        """Elastic Fabric Adapters of each GPU node."""
        return 0 if self.efa == "none" else efa_interfaces_of(self.gpu_instance_type)

    @property
    def most_system_nodes(self) -> int:
        return 2 * self.system_nodes
