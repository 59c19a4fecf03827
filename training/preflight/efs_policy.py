"""The policy of an EFS file system, and jobs, which mount it without TLS and without a role.

https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.efs import Efs
from training.aws.policy import Policy, Statement
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

MOUNT, WRITE = "elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"

ROOT = "elasticfilesystem:ClientRootAccess"

ENFORCED = (
    "aws:securetransport",
    "aws:sourceip",
    "elasticfilesystem:accesspointarn",
    "elasticfilesystem:accessedviamounttarget",
)
"""The condition keys that EFS enforces for NFS clients, and no others."""

_OF_JOBS = {
    "aws:securetransport": {"bool": ["false"]},
    "elasticfilesystem:accesspointarn": {"null": ["true"]},
    "elasticfilesystem:accessedviamounttarget": {"bool": ["true"]},
}
"""Key, operator and values of the conditions that hold for jobs."""


@dataclass(frozen=True, kw_only=True)
class EfsPolicyAdmitsJobs(Check):
    """The policy of EFS lets in who comes without TLS and without a role, as SageMaker does."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "efs-policy-locks-out": "error",
        "efs-policy-squashes-root": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "elasticfilesystem:DescribeFileSystemPolicy",
        "elasticfilesystem:DescribeFileSystems",
    )

    efs: Efs
    file_system_id: str
    key: str
    """What chose the file system: a setting of the stacks, or a key of the job."""
    alternative: str
    """What to do where the policy is to stay as it is."""

    def find(self) -> Iterator[Finding]:
        if self.efs.file_system(self.file_system_id) is None:
            return  # Another check says so.
        policy = self.efs.policy(self.file_system_id)
        if policy is None:
            return
        reasons = list(_lockouts(policy))
        if reasons:
            yield self.found(
                "efs-policy-locks-out",
                self.key,
                f"the policy of EFS {self.file_system_id} {' and '.join(reasons)}. SageMaker "
                "mounts EFS without TLS, access point or role: change the policy (aws efs "
                f"put-file-system-policy), or {self.alternative}",
            )
        elif not _allows_anyone(policy, ROOT):
            yield self.found(
                "efs-policy-squashes-root",
                self.key,
                f"the policy of EFS {self.file_system_id} lets nobody ClientRootAccess who comes "
                "without a role. Containers run as root: they can only write where the folder lets "
                "everyone write (chmod 1777)",
            )


def _lockouts(policy: Policy) -> Iterator[str]:
    """Yield what in a policy keeps jobs from mounting, as the predicate of a sentence."""
    missing = [action for action in (MOUNT, WRITE) if not _allows_anyone(policy, action)]
    if missing:
        names = " and ".join(action.partition(":")[2] for action in missing)
        yield f"lets nobody {names} who comes without a role"
    for statement in policy.denying(MOUNT):
        is_enforced = all(key in ENFORCED for _, key in statement.conditions)
        if statement.is_about_everyone and is_enforced and _holds_for_jobs(statement):
            yield f"denies ClientMount to who comes so ({statement.name})"


def _allows_anyone(policy: Policy, action: str) -> bool:
    return any(
        found.is_about_everyone and _holds_for_jobs(found) for found in policy.allowing(action)
    )


def _holds_for_jobs(statement: Statement) -> bool:
    """Return whether the conditions hold for who comes without TLS, access point or role.

    What EFS does not enforce counts as held; AWS does not say what becomes of the statement.
    """
    return all(
        _OF_JOBS.get(key, {}).get(operator.removesuffix("ifexists")) == values
        for (operator, key), values in statement.conditions.items()
        if key in ENFORCED
    )
