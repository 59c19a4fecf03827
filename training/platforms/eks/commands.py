"""The commands that messages about a job on the EKS cluster name."""

from __future__ import annotations

_JOBS = "python -m training.jobs"
_HERE = "--platform eks"

LIST = f"{_JOBS} list {_HERE}"
INSTALL = "python -m training.kubernetes install"
CLUSTER_STATUS = "python -m training.kubernetes status"


def how_to_follow(job_name: str) -> str:
    """Return the command that shows a job's lines until it ends."""
    return f"{_JOBS} logs -f {job_name} {_HERE}"


def how_to_look(job_name: str) -> str:
    """Return the command that shows how a job is doing."""
    return f"{_JOBS} status {job_name} {_HERE}"


def how_to_stop(job_name: str) -> str:
    """Return the command that ends a job and removes what is left of it."""
    return f"{_JOBS} stop {job_name} {_HERE}"
