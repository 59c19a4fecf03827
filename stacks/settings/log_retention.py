"""How long CloudWatch Logs keeps what is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator

from stacks.settings.group import checked_by

# fmt: off
RETENTION_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
)
# fmt: on
"""https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html"""

RETENTION_ALLOWED = "one of " + ", ".join(map(str, RETENTION_DAYS))


def _problems_of_retention(days: int) -> Iterator[str]:
    if days not in RETENTION_DAYS:
        yield "CloudWatch Logs does not offer it"


RetentionDays = Annotated[int, AfterValidator(checked_by(_problems_of_retention))]
