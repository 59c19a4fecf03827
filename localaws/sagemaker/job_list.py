"""Lists training jobs as ListTrainingJobs does: filtered, in an order, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker.training_job import TrainingJob

PAGE = 10
"""Jobs of a page where the request does not say.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListTrainingJobs.html
"""

_ORDERS: dict[str, Callable[[TrainingJob], Any]] = {
    "Name": lambda job: job.training_job_name,
    "CreationTime": lambda job: job.creation_time,
    "Status": lambda job: job.training_job_status,
}


def list_jobs(jobs: Iterable[TrainingJob], request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request.

    As on AWS, a page is cut first and filtered by StatusEquals then.

    Raises:
        ValidationError: The order or the token is not known.
    """
    order = request.get("SortBy", "CreationTime")
    if order not in _ORDERS:
        raise ValidationError(message=f"SortBy {order}: must be one of {', '.join(_ORDERS)}")
    named = [job for job in jobs if request.get("NameContains", "") in job.training_job_name]
    named.sort(key=_ORDERS[order], reverse=request.get("SortOrder") == "Descending")
    try:
        first = int(request.get("NextToken", 0))
    except ValueError as error:
        raise ValidationError(message="Invalid pagination token") from error
    end = first + request.get("MaxResults", PAGE)
    status = request.get("StatusEquals")
    page = [job for job in named[first:end] if status in (None, job.training_job_status)]
    answer: dict[str, Any] = {"TrainingJobSummaries": [job.summary() for job in page]}
    if end < len(named):
        answer["NextToken"] = str(end)
    return answer
