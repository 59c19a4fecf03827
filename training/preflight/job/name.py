"""The name of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.sagemaker import SageMaker
from training.platforms.sagemaker.fingerprint import fingerprint_of
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class NameIsFree(Check):
    """No other training job has the name, which an account uses once in a region."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "job-name-taken": "error",
        "job-already-there": "info",
    }
    actions: ClassVar[tuple[str, ...]] = ("sagemaker:DescribeTrainingJob",)

    sagemaker: SageMaker
    name: str
    fingerprint: str | None

    def find(self) -> Iterator[Finding]:
        try:
            job = self.sagemaker.training_job(self.name)
        except AwsRefused as error:
            # Who may see the jobs of a project alone is not told that there is none.
            if error.is_denial:
                return
            raise
        if job is None:
            return
        state = job["TrainingJobStatus"]
        if self.fingerprint and fingerprint_of(job) == self.fingerprint:
            yield self.found(
                "job-already-there",
                "name",
                f"{self.name} was started before by this very request and is {state}: no second "
                f"job is started{_what_then(state)}",
            )
        else:
            yield self.found(
                "job-name-taken",
                "name",
                f"there is a training job {self.name} already ({state}), and SageMaker uses a name "
                "once. Give another --name, or go on from its checkpoint with --resume",
            )


def _what_then(state: str) -> str:
    if state in {"InProgress", "Stopping"}:
        return ", and --wait follows this one"
    return ". For another, give another --name, or go on from its checkpoint with --resume"
