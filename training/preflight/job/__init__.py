"""Checks of one planned job: what stands against it before anything is sent or paid for.

The checks for platform `sagemaker` judge the CreateTrainingJob request itself, those for `ec2` and
`eks` (the packages of those names) the request to the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan
    from training.preflight.finding import Finding
    from training.preflight.report import Report
    from training.preflight.selection import Selection

TIME_LIMIT_S = 30.0
"""For each check; all run at once."""


def find(job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:
    """Yield what is found about a request to SageMaker, or to the cluster.

    Args:
        offline: Ask nobody.

    Raises:
        AwsError: AWS cannot be reached, or the credentials are not accepted.
    """
    from training.preflight.job.offline import checks_here, offline_checks
    from training.preflight.selection import Selection

    findings = [finding for check in offline_checks(job, plan) for finding in check.find()]
    if not is_for_aws(plan):
        findings += [finding for check in checks_here(job, plan) for finding in check.find()]
        if not offline:
            findings += _ask_s3(job, plan)
    elif not offline:
        findings += ask_aws(job, plan, Selection(), time_limit_s=TIME_LIMIT_S).findings
    yield from without_own_log(findings)


def _ask_s3(job: Job, plan: Plan) -> Iterator[Finding]:
    """Yield what is found on S3 where containers on this machine go on from there."""
    from training.preflight.job.asked import Asked
    from training.preflight.job.offline import goes_on, jobs_before_on_s3

    if not goes_on(job, plan):
        return
    from training.aws.client import new_session
    from training.aws.clients import Clients
    from training.preflight.job.whereabouts import ATTEMPTS, READ_TIMEOUT_S

    session = new_session()
    s3 = Clients(session, None, read_timeout_s=READ_TIMEOUT_S, attempts=ATTEMPTS).s3
    for check in jobs_before_on_s3(job, plan, Asked.of(plan.request.to_json()), s3):
        yield from check.find()


def without_own_log(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out that the log folder has files, where those are of the very job that is asked for.

    A launch whose answer was lost is repeated, and follows the job that it started before.
    """
    codes = {finding.code for finding in findings}
    left_out = {"log-exists"} if "job-already-there" in codes else set()
    return [finding for finding in findings if finding.code not in left_out]


def ask_aws(job: Job, plan: Plan, selection: Selection, *, time_limit_s: float) -> Report:
    """Run the checks of a request that ask AWS.

    Raises:
        AwsError: AWS cannot be reached, or the credentials are not accepted.
    """
    from training.aws.client import new_session
    from training.preflight.job.registry import checks, region_of
    from training.preflight.job.whereabouts import find_whereabouts
    from training.preflight.report import Report
    from training.preflight.side_by_side import run_checks

    session = new_session(region=region_of(plan))
    place = find_whereabouts(session, time_limit_s=time_limit_s)
    chosen = selection.of_checks(checks(job, plan, place))
    results = run_checks(chosen, time_limit_s=time_limit_s)
    return Report(
        place.identity.account,
        place.region,
        len(chosen),
        selection.of_findings(results.findings),
        results.is_silent,
    )


def is_for_aws(plan: Plan) -> bool:
    """Return whether AWS is asked for instances, and not this machine for containers."""
    if plan.platform in {"ec2", "eks"}:
        return True
    resources = plan.request.to_json().get("ResourceConfig", {})
    return str(resources.get("InstanceType", "")).startswith("ml.")
