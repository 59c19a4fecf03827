"""Training jobs, as SageMaker describes them, and the experiments that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask

Description = dict[str, Any]
"""Of one job, in AWS's spelling."""

PAGE = 100
"""Jobs of one answer; the API's most."""


@dataclass(frozen=True)
class JobPage:
    """A part of a list of jobs, and where it goes on; None at its end."""

    jobs: tuple[Description, ...]
    token: str | None


class SageMaker:
    """Amazon SageMaker."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def create_training_job(self, body: Mapping[str, Any]) -> None:
        """Ask for a training job; the answer says no more than that the request was accepted."""
        ask(self._client, "create_training_job", **body)

    def create_experiment(self, body: Mapping[str, Any]) -> None:
        """Make an experiment, which does nothing by itself: jobs name it."""
        ask(self._client, "create_experiment", **body)

    def training_job(self, name: str) -> Description | None:
        """Return a training job; None where there is none of that name.

        Raises:
            AwsRefused: Also where there is no such job, if a policy goes by the job's tags.
        """
        try:
            return ask(self._client, "describe_training_job", TrainingJobName=name)
        except AwsRefused as error:
            if _says_not_there(error):
                return None
            raise

    def stop_training_job(self, name: str) -> None:
        """Ask a training job to end: its processes get SIGTERM, and 120 s to save what they have.

        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopTrainingJob.html
        """
        ask(self._client, "stop_training_job", TrainingJobName=name)

    def training_jobs(self, token: str | None = None, *, status: str | None = None) -> JobPage:
        """Return a page of the names, states and times of all jobs of the region, newest first.

        Args:
            token: Where the page before says that the list goes on; None begins.
            status: Those alone whose TrainingJobStatus this is, such as `InProgress`; a page is cut
                before, so that it may have few of them, or none, and the list go on.

        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListTrainingJobs.html
        """
        answer = ask(
            self._client,
            "list_training_jobs",
            SortBy="CreationTime",
            SortOrder="Descending",
            MaxResults=PAGE,
            **({"NextToken": token} if token is not None else {}),
            **({"StatusEquals": status} if status is not None else {}),
        )
        return JobPage(tuple(answer["TrainingJobSummaries"]), answer.get("NextToken"))


def _says_not_there(error: AwsRefused) -> bool:
    """Return whether an answer says that there is no such job.

    The model has `ResourceNotFound` for it, the service answers `ValidationException`, "Requested
    resource not found.": https://github.com/aws/aws-sdk/issues/165
    """
    if error.code == "ResourceNotFound":
        return True
    words = str(error).lower()
    return error.code == "ValidationException" and (
        "resource not found" in words or "could not find" in words
    )
