"""A planned job, checked: what `python -m training.preflight JOB.yaml` calls."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from training.preflight import planned
from training.preflight.job import ask_aws, is_for_aws, without_own_log
from training.preflight.job.registry import known_codes
from training.preflight.report import Report
from training.preflight.selection import Selection

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan

CODES_OF_PLANS = frozenset(
    {
        # training.preflight: planned, budget, price_age, log_folder, mounted, processes, data,
        # weights
        "account-not-asked",
        *("cost-over-limit", "cost-unknown", "data-channel-missing", "file-system-not-mounted"),
        *("horovod-missing", "host-discovery-missing", "interface-missing"),
        *("log-exists", "log-not-writable"),
        *("log-unreadable", "mpi-missing", "price-old", "resume-changes-hyperparameters"),
        *("resume-nothing", "weights-missing"),
        # training.platforms.eks.advice, which has those of ec2 that follow, too
        *("api-private", "image-of-another-registry"),
        # training.platforms.ec2.advice
        *("environment-without-algorithm", "image-not-used", "instance-type-not-the-clusters"),
        *("secret-in-environment", "spot-wait-not-used", "spot-without-retries"),
        *("spot-without-spot-workers", "workers-over-most", "workers-without-gpu"),
        # training.platforms.sagemaker.advice
        *("gpus-idle", "s3-data-sharded", "spot-without-instances"),
        "traffic-encryption-with-efa",
    }
)
"""Of the findings that no `Check` makes; those of the data itself (`python -m training.data check`)
are not among them."""


def check_job(
    job: Job,
    plan: Plan,
    *,
    only: Collection[str],
    suppressed: Collection[str],
    time_limit_s: float,
) -> Report:
    """Check a plan, and ask AWS about it where it is for AWS.

    Raises:
        UsageError: A code is not known.
        AwsError: AWS cannot be reached, or the credentials are not accepted.
    """
    selection = select(only, suppressed)
    if not is_for_aws(plan):
        return Report(None, None, 0, selection.of_findings(planned.find(job, plan, offline=False)))
    offline = selection.of_findings(planned.find(job, plan, offline=True))
    asked = ask_aws(job, plan, selection, time_limit_s=time_limit_s)
    return replace(asked, findings=without_own_log([*offline, *asked.findings]))


def select(only: Collection[str], suppressed: Collection[str]) -> Selection:
    """Return which findings about a job are wanted.

    Raises:
        UsageError: A code is not known.
    """
    return Selection.parse(only, suppressed, known_codes() | CODES_OF_PLANS)
