"""Settings of ClusterStack."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.cluster_rules import problems_of_cluster
from stacks.settings.cluster_types import (
    efa_interfaces_of,
    gpus_of,
    is_put_close,
    problems_of_type,
)
from stacks.settings.group import (
    CommaSeparated,
    OptionalText,
    SettingsGroup,
    checked_by,
    prefixed,
    refuse,
)
from stacks.settings.log_retention import RETENTION_ALLOWED, RetentionDays
from stacks.settings.text import shown

DEFAULT_NAME = "distributed-mask-rcnn"
"""Not the value of `project`: another name is another cluster, with other jobs and other keys."""

MOST_WORKERS = 1000
SHORTEST_SETUP_MINUTES, LONGEST_SETUP_MINUTES = 5, 57
"""CloudFormation waits an hour at most for a batch of new nodes, and nodes need time to boot.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
"""


def _read_address(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return ip_network(value)
    except ValueError as error:
        raise ValueError(f"{shown(value)} is no network ({error})") from error


def _problems_of_reservation(identifier: str | None) -> Iterator[str]:
    if identifier and identifier.startswith("arn:"):
        yield "give the id alone, what comes after the last slash"


_Addresses = Annotated[
    tuple[Annotated[IPv4Network | IPv6Network, BeforeValidator(_read_address)], ...],
    CommaSeparated,
]
_Type = Annotated[str, AfterValidator(checked_by(problems_of_type))]


def _default_if_empty(name: Any) -> Any:
    return DEFAULT_NAME if name == "" else name


class ClusterSettings(SettingsGroup):
    """The EC2 cluster: a head node and worker nodes."""

    model_config = prefixed("cluster_")

    name: Annotated[str, BeforeValidator(_default_if_empty)] = Field(
        default=DEFAULT_NAME,
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,62}$",
        description="1 to 63 letters, digits and hyphens, a letter first",
    )
    """Of the groups, and of the cluster's folder on EFS."""

    head_instance_type: _Type = Field(
        default="m6i.xlarge",
        max_length=64,
        description="an x86_64 instance type of EC2, such as m6i.xlarge",
    )
    """The head conducts the jobs; one with GPUs takes part in training."""

    worker_instance_type: _Type = Field(
        default="p4d.24xlarge",
        max_length=64,
        description="an x86_64 instance type of EC2, such as p4d.24xlarge",
    )

    workers: int = Field(default=0, ge=0, le=MOST_WORKERS, description=f"0 to {MOST_WORKERS}")
    """How many run after the deploy. Jobs start what they need and stop it afterwards; a later
    deploy leaves their number alone unless this setting is changed."""

    max_workers: int = Field(default=4, ge=1, le=MOST_WORKERS, description=f"1 to {MOST_WORKERS}")
    """More are never started, whatever a job asks for."""

    zone: int | None = Field(default=None, ge=1, le=6, description="1 to the number of zones")
    """The number of the private subnet of all workers: EFA does not leave a subnet, and traffic
    between zones is slower and costs. Without it: the one of FSx for Lustre, or the first."""

    ssh_location: _Addresses = Field(
        default=(),
        description="networks such as 203.0.113.0/24, with commas between; none wider than /8",
    )
    """Who reaches the head over SSH. The head is in a public subnet with an Elastic IP if this is
    given, and in a private one without, where Session Manager reaches it."""

    allow_open_ssh: bool = Field(default=False, description="true or false")
    """Whether `cluster_ssh_location` may be wider than /8, 0.0.0.0/0 included."""

    key_name: OptionalText = Field(
        default=None,
        pattern=r"^[ -~]{1,255}$",
        description="the name of an EC2 key pair of the region",
    )
    """What the AMI's own user signs in with. Jobs do not need it."""

    placement_group: Literal["create", "none"] | None = Field(
        default=None, description="create or none"
    )
    """Whether workers are put close together. Without it: create, but for types that cannot, and
    for reserved capacity, which has its place already."""

    efa: Literal["auto", "require", "none"] = Field(
        default="auto", description="auto, require or none"
    )
    """Elastic Fabric Adapters, as many as the type has; `require` refuses a type without."""

    spot: bool = Field(default=False, description="true or false")
    """Whether workers are spot instances. The head is never one."""

    capacity_reservation_id: Annotated[
        OptionalText, AfterValidator(checked_by(_problems_of_reservation))
    ] = Field(
        default=None,
        pattern=r"^cr-[0-9a-f]{8,17}$",
        description="the id of a capacity reservation, such as cr-0123456789abcdef0",
    )
    """Where workers are started, and nowhere else."""

    capacity_block: bool = Field(default=False, description="true or false")
    """Whether `cluster_capacity_reservation_id` is a Capacity Block for ML."""

    ami: OptionalText = Field(
        default=None,
        pattern=r"^ami-[0-9a-f]{8}([0-9a-f]{9})?$",
        description="the id of an AMI, such as ami-0123456789abcdef0",
    )
    """Of all nodes. Without it: AWS's newest Deep Learning Base AMI when the stack is deployed. A
    new one replaces the nodes, so name one to keep it."""

    root_device: Literal["/dev/sda1", "/dev/xvda"] | None = Field(
        default=None, description="/dev/sda1 or /dev/xvda"
    )
    """Of `cluster_ami`: /dev/sda1 on Ubuntu, /dev/xvda on Amazon Linux and without it."""

    runs_in: Literal["image", "environment"] = Field(
        default="image", description="image or environment"
    )
    """Jobs run in a container of their image, or in a Python environment that each node makes."""

    environment: OptionalText = Field(
        default=None,
        pattern=r"^(/[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*)+$",
        description="an absolute path, such as /opt/trainer",
    )
    """The Python environment that `cluster_ami` has already, with all that the trainer needs:
    nodes use it instead of making one. With `cluster_runs_in=environment` only."""

    volume_gib: int = Field(default=200, ge=100, le=16384, description="100 to 16384")
    """Of each node's disk: the system, images and the environment; data is elsewhere. The Deep
    Learning AMIs take most of 75 GiB."""

    setup_minutes: int = Field(
        default=30,
        ge=SHORTEST_SETUP_MINUTES,
        le=LONGEST_SETUP_MINUTES,
        description=f"{SHORTEST_SETUP_MINUTES} to {LONGEST_SETUP_MINUTES}",
    )
    """How long a node may take to become ready, before its start counts as failed."""

    log_retention_days: RetentionDays = Field(default=365, description=RETENTION_ALLOWED)

    @model_validator(mode="after")
    def _they_go_together(self) -> Self:
        refuse(problems_of_cluster(self))
        return self

    @property
    def has_ssh(self) -> bool:
        """Whether the head is in a public subnet."""
        return bool(self.ssh_location)

    @property
    def has_placement_group(self) -> bool:
        return is_put_close(
            self.placement_group,
            reservation=self.capacity_reservation_id,
            name=self.worker_instance_type,
        )

    @property
    def worker_efa(self) -> int:
        """Elastic Fabric Adapters of each worker."""
        return 0 if self.efa == "none" else efa_interfaces_of(self.worker_instance_type)

    @property
    def head_efa(self) -> int:
        """Elastic Fabric Adapters of the head: none where it only conducts."""
        return 0 if self.efa == "none" else efa_interfaces_of(self.head_instance_type)

    @property
    def head_trains(self) -> bool:
        return gpus_of(self.head_instance_type) > 0
