"""The EFS file system that exists already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.cloudformation import CloudFormation
from training.aws.efs import Efs
from training.outputs import StorageOutputs, output_key
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.file_system_vpc import JobsVpc, in_another_vpc

KEY = "efs_id"


@dataclass(frozen=True)
class EfsIsFit(Check):
    """The file system is there, works and is encrypted."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "efs-missing": "error",
        "efs-not-available": "error",
        "efs-not-encrypted": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("elasticfilesystem:DescribeFileSystems",)

    efs: Efs
    region: str
    file_system_id: str

    def find(self) -> Iterator[Finding]:
        found = self.efs.file_system(self.file_system_id)
        if found is None:
            yield self.found(
                "efs-missing",
                KEY,
                f"efs_id is {self.file_system_id}, and this account has no such file system in "
                f"{self.region}. Correct the id (aws efs describe-file-systems shows them), or "
                "leave it out and one is made",
            )
            return
        if found["LifeCycleState"] not in ("available", "updating"):
            yield self.found(
                "efs-not-available",
                KEY,
                f"efs_id: {self.file_system_id} is {found['LifeCycleState']}, not available. Wait, "
                "or name another",
            )
        if not found.get("Encrypted"):
            yield self.found(
                "efs-not-encrypted",
                KEY,
                f"efs_id: {self.file_system_id} is not encrypted at rest, which cannot be changed. "
                "Copy its data to a new one (leave efs_id out) if it has to be",
            )


@dataclass(frozen=True)
class MountTargetsAreAsSaid(Check):
    """There is a mount target in the zone of each private subnet, or none where they are made."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "efs-mount-target-missing": "error",
        "efs-mount-target-exists": "error",
        "efs-in-another-vpc": "error",
        "efs-in-one-zone": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:DescribeStacks",
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeMountTargets",
    )

    efs: Efs
    cloudformation: CloudFormation
    vpc: JobsVpc
    file_system_id: str
    zones: Sequence[str] | None
    """Of the private subnets; None where CloudFormation finds them."""
    are_to_be_made: bool

    def find(self) -> Iterator[Finding]:
        file_system = self.efs.file_system(self.file_system_id)
        if file_system is None:
            return  # Another check says so.
        targets = self.efs.mount_targets(self.file_system_id)
        yield from self._judge_vpc(targets)
        if self.are_to_be_made:
            yield from self._judge_one_zone(file_system)
            yield from self._refuse_second(targets)
        else:
            yield from self._want_one_a_zone(targets)

    def _judge_vpc(self, targets: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
        # All mount targets of a file system are in one VPC:
        # https://docs.aws.amazon.com/efs/latest/ug/limits.html
        vpc_id = next((target["VpcId"] for target in targets), None)
        expected = self.vpc.find() if vpc_id else None
        if vpc_id and vpc_id != expected:
            message = in_another_vpc(KEY, self.file_system_id, vpc_id, expected)
            yield self.found("efs-in-another-vpc", KEY, message)

    def _judge_one_zone(self, file_system: Mapping[str, Any]) -> Iterator[Finding]:
        only = file_system.get("AvailabilityZoneName")
        others = [zone for zone in self.zones or () if zone != only]
        if only and others:
            yield self.found(
                "efs-in-one-zone",
                KEY,
                f"efs_id: {self.file_system_id} is a One Zone file system of {only} and takes no "
                f"mount target in {', '.join(others)}. Take a regional one, or make its mount "
                "target yourself and set efs_mount_targets=existing",
            )

    def _refuse_second(self, targets: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
        taken = [
            target["AvailabilityZoneName"]
            for target in targets
            if self.zones is None or target["AvailabilityZoneName"] in self.zones
        ]
        if taken and not self._made_by_us():
            yield self.found(
                "efs-mount-target-exists",
                "efs_mount_targets",
                f"efs_mount_targets is create, but {self.file_system_id} has mount targets in "
                f"{', '.join(sorted(taken))} already, and takes one a zone. Set "
                "efs_mount_targets=existing and efs_security_group_id to their security group",
            )

    def _made_by_us(self) -> bool:
        """Whether an earlier deploy of StorageStack made them: mount targets have no tags."""
        outputs = self.cloudformation.outputs(StorageOutputs.STACK)
        return (
            outputs.get(output_key("efs_id")) == self.file_system_id
            and outputs.get(output_key("efs_mount_targets")) == "create"
        )

    def _want_one_a_zone(self, targets: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
        served = {target["AvailabilityZoneName"] for target in targets}
        lacking = [zone for zone in self.zones or () if zone not in served]
        if lacking:
            yield self.found(
                "efs-mount-target-missing",
                "efs_mount_targets",
                f"efs_mount_targets is existing, but {self.file_system_id} has no mount target in "
                f"{', '.join(lacking)}, where private subnets are: jobs there cannot mount it. Add "
                f"one (aws efs create-mount-target --file-system-id {self.file_system_id} "
                "--subnet-id …), or leave that subnet out",
            )
