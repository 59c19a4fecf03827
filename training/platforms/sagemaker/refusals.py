"""Says in one message why SageMaker did not take a job."""

from __future__ import annotations

import re

from training.aws.errors import AwsRefused
from training.errors import AwsError

_QUOTA = re.compile(
    r"service limit '(?P<name>[^']+)' is (?P<limit>\d+) \w+, with current utilization of "
    r"(?P<used>\d+) \w+ and a request delta of (?P<asked>\d+)"
)
"""As in "The account-level service limit 'ml.p3.2xlarge for training job usage' is 0 Instances,
with current utilization of 0 Instances and a request delta of 1 Instances.":
https://github.com/aws/amazon-sagemaker-examples/issues/1543
"""


def why(error: AwsError) -> str:
    """Return what a refusal of CreateTrainingJob says, and what to do."""
    match = _QUOTA.search(str(error))
    if not isinstance(error, AwsRefused) or error.code != "ResourceLimitExceeded" or match is None:
        return str(error)
    limit, used, asked = (int(match[name]) for name in ("limit", "used", "asked"))
    return (
        f"the quota '{match['name']}' is {limit} of {used + asked} needed ({asked} for this job, "
        f"{used} in use). Ask for {used + asked} in Service Quotas (Amazon SageMaker), take fewer "
        "instances or another type, or wait until other jobs have ended"
    )
