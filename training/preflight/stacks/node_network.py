"""What the cluster's nodes reach, and who reaches them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.efs import Efs
from training.outputs import ClusterOutputs
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.interface_endpoints import KEY as ENDPOINTS_KEY
from training.preflight.stacks.interface_endpoints import services_of_endpoints


@dataclass(frozen=True)
class NodesReachServices(Check):
    """Without internet, the VPC has an interface endpoint for each service that nodes call."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-endpoint-missing": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcEndpoints",)

    ec2: Ec2
    vpc_id: str | None
    """None for a new one, which has only what is made."""
    made: Sequence[str]
    """Services whose endpoints are to be made."""
    needed: Sequence[str]
    stack: str = ClusterOutputs.STACK
    """Whose nodes they are."""
    without: str = "they are never set up, and its deploy fails"
    """What comes of it where one is missing."""

    def find(self) -> Iterator[Finding]:
        there = services_of_endpoints(self.ec2.vpc_endpoints(self.vpc_id)) if self.vpc_id else set()
        missing = [name for name in self.needed if name not in {*self.made, *there}]
        if missing:
            yield self.found(
                "cluster-endpoint-missing",
                ENDPOINTS_KEY,
                f"internet_access is false, and the nodes of {self.stack} need endpoints for "
                f"{', '.join(missing)}: without them {self.without}. "
                f"For that stack, set {ENDPOINTS_KEY}={','.join([*self.made, *missing])}",
            )


@dataclass(frozen=True)
class NodesCanMountEfs(Check):
    """EFS has a mount target in each zone of an existing VPC where nodes are to be."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-zone-without-mount-target": "error"}
    actions: ClassVar[tuple[str, ...]] = ("elasticfilesystem:DescribeMountTargets",)

    efs: Efs
    file_system_id: str | None
    """With mount targets of its own; None where they are made, one in each private subnet."""
    private_zones: Collection[str]
    head_zone: str
    worker_zone: str

    def find(self) -> Iterator[Finding]:
        served = set(self.private_zones)
        if self.file_system_id:
            targets = self.efs.mount_targets(self.file_system_id)
            served = {target["AvailabilityZoneName"] for target in targets}
        for who, zone, key in (
            ("the head of ClusterStack is", self.head_zone, "public_subnets"),
            ("the workers of ClusterStack are", self.worker_zone, "cluster_zone"),
        ):
            if zone not in served:
                yield self.found(
                    "cluster-zone-without-mount-target",
                    key,
                    f"{who} to be in {zone}, where EFS has no mount "
                    f"target, only in {', '.join(sorted(served)) or 'no zone at all'}: its name "
                    f"leads nowhere there. Choose another zone ({key}), or add a mount target",
                )


@dataclass(frozen=True)
class SshIsNarrow(Check):
    """SSH to the head is open to few."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-ssh-open": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    networks: Sequence[str]
    """Those of the settings that are so wide that anybody may be in them."""

    def find(self) -> Iterator[Finding]:
        if self.networks:
            yield self.found(
                "cluster-ssh-open",
                "cluster_ssh_location",
                f"cluster_ssh_location opens port 22 of the head to {', '.join(self.networks)}, so "
                "that anybody may try to sign in (cluster_allow_open_ssh is true). Name your own "
                "network, or leave it out and use Session Manager",
            )


@dataclass(frozen=True)
class PlacementIsOfOneType(Check):
    """All nodes in the placement group are of one type."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-placement-of-several-types": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    types: Sequence[str]

    def find(self) -> Iterator[Finding]:
        several = list(dict.fromkeys(self.types))
        if len(several) > 1:
            yield self.found(
                "cluster-placement-of-several-types",
                "cluster_placement_group",
                f"the placement group holds {' and '.join(several)}, and EC2 finds room side by "
                "side less often for several types: the deploy may fail for lack of capacity. Take "
                "one type for head and workers, a head without GPU, or "
                "cluster_placement_group=none",
            )
