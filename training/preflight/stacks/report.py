"""The settings of the stacks, checked: what the command line and other programs call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from training.aws.client import find_credentials
from training.preflight.report import Report
from training.preflight.selection import Selection
from training.preflight.side_by_side import run_checks
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.registry import checks
from training.preflight.stacks.survey import survey

if TYPE_CHECKING:
    from boto3.session import Session


def check_stacks(
    context: Mapping[str, Any], session: Session, selection: Selection, *, time_limit_s: float
) -> Report:
    """Check settings against the account and region that they would be deployed to.

    Raises:
        UsageError: A setting is wrong in itself.
        AwsError: AWS cannot be reached, or the credentials are not accepted.
    """
    # `training.preflight.stacks` alone looks at `stacks`, and never at aws_cdk: settings are plain
    # pydantic.
    from stacks.settings import Settings

    settings = Settings.from_context(context)
    find_credentials(session)
    found = survey(settings, session, context, time_limit_s=time_limit_s)
    if found.place is None:
        # Nothing else was looked at, so that these can be neither left out nor unwanted.
        return Report(None, None, 1, found.findings)
    chosen = selection.of_checks(checks(Deployment(context, settings, found.place)))
    results = run_checks(chosen, time_limit_s=time_limit_s)
    return Report(
        found.place.identity.account,
        found.place.region,
        len(chosen),
        selection.of_findings(results.findings),
        results.is_silent,
    )
