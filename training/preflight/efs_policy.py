"""What the policy of an EFS file system means for jobs, which mount without TLS and without a role.

https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from training.aws.policy import Policy, Statement

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


def lockouts(policy: Policy) -> Iterator[str]:
    """Yield what in a policy keeps jobs from mounting, as the predicate of a sentence."""
    missing = [action for action in (MOUNT, WRITE) if not _allows_anyone(policy, action)]
    if missing:
        names = " and ".join(action.partition(":")[2] for action in missing)
        yield f"lets nobody {names} who comes without a role"
    for statement in policy.denying(MOUNT):
        is_enforced = all(key in ENFORCED for _, key in statement.conditions)
        if statement.is_about_everyone and is_enforced and _holds_for_jobs(statement):
            yield f"denies ClientMount to who comes so ({statement.name})"


def squashes_root(policy: Policy) -> bool:
    """Return whether the root of containers is nobody on the file system."""
    return not _allows_anyone(policy, ROOT)


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
