"""What a launch writes down of its job, before it sends it: an answer may be lost."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from training.cli import log
from training.jobs.info import as_text
from training.jobs.record import Record, Recorded, RecordTrouble
from training.platforms.ec2.request import Ec2Request
from training.platforms.eks.request import EksRequest
from training.preflight.job import is_for_aws
from training.preflight.job.course import machines_of

if TYPE_CHECKING:
    from training.platforms.api import Plan


def remember(plan: Plan) -> None:
    """Write a plan's job down; that it cannot be is said, and stops nothing."""
    if plan.platform == "local" or not is_for_aws(plan):
        return
    try:
        Record.of(os.environ).add(_recorded(plan))
    except RecordTrouble as trouble:
        log.print(f"The job is not written down here, and is launched all the same: {trouble}")


def _recorded(plan: Plan) -> Recorded:
    request = plan.request
    region: str | None
    account: str | None
    folder: str | None
    if isinstance(request, Ec2Request | EksRequest):
        region, account, folder = request.region, request.account, request.log
    else:
        region, account, folder = _of_sagemaker(plan)
    machines = machines_of(plan)
    return Recorded(
        name=plan.job_name,
        platform=plan.platform,
        region=region,
        account=account,
        created=as_text(datetime.now(UTC)),
        log=folder,
        instance_type=machines[0] if machines else None,
    )


def _of_sagemaker(plan: Plan) -> tuple[str | None, str | None, str | None]:
    """Return region, account and log folder of a request to SageMaker, which names only the last.

    It goes to the region of the session, in the account of its role.
    """
    from training.aws.client import new_session
    from training.preflight.job.asked import Asked

    asked = Asked.of(plan.request.to_json())
    channel = next((each for each in asked.file_systems if each.name == "log"), None)
    on_s3 = str(asked.checkpoints) if asked.checkpoints else None
    folder = f"{channel.file_system_id}:{channel.path}" if channel else on_s3
    return new_session().region_name, asked.role_arn.split(":")[4], folder
