"""Whether jobs may mount the EFS file system that exists already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.efs import Efs
from training.aws.security_group import admits
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.peers import Members
from training.preflight.ports import NFS

KEY = "efs_security_group_id"


@dataclass(frozen=True)
class MountTargetsAdmitJobs(Check):
    """The security group named is that of the mount targets, and lets NFS in."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "efs-security-group-missing": "error",
        "efs-security-group-unused": "error",
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
    group_id: str
    jobs: Members | None
    """Whom the rules that are there have to admit; None where StorageStack adds them, or where
    the security group of jobs is made, so that no rule can name it."""

    def find(self) -> Iterator[Finding]:
        group = self.ec2.security_groups([self.group_id]).get(self.group_id)
        if group is None:
            yield self.found(
                "efs-security-group-missing",
                KEY,
                f"{KEY} is {self.group_id}, and there is no such security group here. Correct the "
                "id: it is that of the file system's mount targets",
            )
            return
        yield from self._judge_use()
        if self.jobs and not admits(group, NFS, self.jobs.resolve(self.ec2)):
            yield self.found(
                "efs-port-closed",
                "efs_security_group_rules",
                f"efs_security_group_rules is existing, but {self.group_id} does not let "
                f"{self.jobs.group_id} in on TCP port 2049, so that no job can mount EFS. Set "
                "efs_security_group_rules=create, or add the rule",
            )

    def _judge_use(self) -> Iterator[Finding]:
        if self.efs.file_system(self.file_system_id) is None:
            return  # Another check says so.
        for target in self.efs.mount_targets(self.file_system_id):
            groups = self.efs.security_group_ids(target["MountTargetId"])
            if self.group_id not in groups:
                yield self.found(
                    "efs-security-group-unused",
                    KEY,
                    f"{KEY} is {self.group_id}, but the mount target of {self.file_system_id} in "
                    f"{target['AvailabilityZoneName']} has {', '.join(groups)}. Name the group "
                    "that all mount targets have, or give them this one",
                )
