"""EFS, where channels are on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.aws.efs import Efs
from training.aws.security_group import admits, releases
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.peers import Members
from training.preflight.ports import NFS

KEY = "data_source"


@dataclass(frozen=True)
class JobsReachEfs(Check):
    """Each subnet of the job has a mount target in its zone, whose port 2049 is open to the job.

    https://github.com/aws/sagemaker-python-sdk/issues/2204
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "efs-missing": "error",
        "efs-not-available": "error",
        "efs-mount-target-missing": "error",
        "efs-mount-target-not-available": "error",
        "efs-port-closed": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        "elasticfilesystem:DescribeMountTargets",
    )

    ec2: Ec2
    efs: Efs
    file_system_id: str
    jobs: Members

    def find(self) -> Iterator[Finding]:
        found = self.efs.file_system(self.file_system_id)
        if found is None:
            yield self.found(
                "efs-missing",
                KEY,
                f"there is no EFS file system {self.file_system_id} in this account and region; "
                "deploy StorageStack again, or read its outputs anew (leave --outputs-file out)",
            )
            return
        if found["LifeCycleState"] not in ("available", "updating"):
            yield self.found(
                "efs-not-available",
                KEY,
                f"EFS {self.file_system_id} is {found['LifeCycleState']}, not available. Wait",
            )
        yield from self._judge_targets()

    def _judge_targets(self) -> Iterator[Finding]:
        targets = self.efs.mount_targets(self.file_system_id)
        by_zone = {target["AvailabilityZoneName"]: target for target in targets}
        judged: set[str] = set()
        for subnet_id, subnet in self.ec2.subnets(self.jobs.subnet_ids).items():
            target = by_zone.get(subnet["AvailabilityZone"])
            if target is None:
                yield self._no_target(subnet_id, subnet, targets)
            elif target["MountTargetId"] not in judged:
                judged.add(target["MountTargetId"])
                yield from self._judge_target(target, subnet)

    def _no_target(
        self, subnet_id: str, subnet: Mapping[str, Any], targets: Sequence[Mapping[str, Any]]
    ) -> Finding:
        zones = ", ".join(sorted(target["AvailabilityZoneName"] for target in targets)) or "none"
        return self.found(
            "efs-mount-target-missing",
            KEY,
            f"EFS {self.file_system_id} has no mount target in {subnet['AvailabilityZone']}, where "
            f"the job's subnet {subnet_id} is (it has them in: {zones}): an instance there cannot "
            f"mount it. Add one: aws efs create-mount-target --file-system-id "
            f"{self.file_system_id} --subnet-id {subnet_id} --security-groups …",
        )

    def _judge_target(
        self, target: Mapping[str, Any], subnet: Mapping[str, Any]
    ) -> Iterator[Finding]:
        zone = subnet["AvailabilityZone"]
        if target["LifeCycleState"] != "available":
            yield self.found(
                "efs-mount-target-not-available",
                KEY,
                f"the mount target of EFS {self.file_system_id} in {zone} is "
                f"{target['LifeCycleState']}, not available. Wait",
            )
        group_ids = self.efs.security_group_ids(target["MountTargetId"])
        groups = self.ec2.security_groups([*group_ids, self.jobs.group_id])
        jobs_group = groups.get(self.jobs.group_id)
        jobs = self.jobs.resolve(self.ec2)
        is_in = any(admits(groups[each], NFS, jobs) for each in group_ids if each in groups)
        servers = [Members(each, [target["SubnetId"]]).resolve(self.ec2) for each in group_ids]
        is_out = jobs_group is None or any(releases(jobs_group, NFS, each) for each in servers)
        if not is_in or not is_out:
            where = f"into {' or '.join(group_ids)}" if not is_in else f"out of {jobs.group_id}"
            yield self.found(
                "efs-port-closed",
                KEY,
                f"TCP port 2049 is closed {where}: jobs in {self.jobs.group_id} cannot mount EFS "
                f"{self.file_system_id} in {zone}. Add the rule, or deploy StorageStack again with "
                "efs_security_group_rules=create",
            )
