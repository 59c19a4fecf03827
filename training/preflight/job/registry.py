"""All checks of a planned job, and those of them that apply to one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from training.platforms.ec2.request import Ec2Request
from training.platforms.eks.request import EksRequest
from training.preflight.check import Check
from training.preflight.job import of_sagemaker, offline
from training.preflight.job.earlier_pace import EarlierPaceHereSuffices
from training.preflight.job.ec2 import registry as of_cluster
from training.preflight.job.eks import registry as of_kubernetes
from training.preflight.job.pace import PaceInFolderSuffices
from training.preflight.job.whereabouts import Whereabouts
from training.preflight.side_by_side import CODES

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan

ALL: tuple[type[Check], ...] = (
    *offline.ALL,
    PaceInFolderSuffices,
    EarlierPaceHereSuffices,
    *of_sagemaker.ALL,
    *of_cluster.ALL,
    *of_kubernetes.ALL,
)


def known_codes() -> set[str]:
    """Return the codes of all findings that there can be."""
    return {code for check in ALL for code in check.codes} | CODES.keys()


def region_of(plan: Plan) -> str | None:
    """Return where a plan's request goes, whatever region is set; None where it is that one."""
    return plan.request.region if isinstance(plan.request, Ec2Request | EksRequest) else None


def checks(job: Job, plan: Plan, place: Whereabouts) -> Iterator[Check]:
    """Yield the checks that ask AWS about a request."""
    if isinstance(plan.request, Ec2Request):
        yield from of_cluster.checks(job, plan.request, place)
    elif isinstance(plan.request, EksRequest):
        yield from of_kubernetes.checks(job, plan.request, place)
    else:
        yield from of_sagemaker.checks(job, plan, place)
