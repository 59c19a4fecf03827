"""Which stages a training job goes through, and when.

Nothing trains: a job takes some seconds, whatever it would train. The tags `localaws:ending` and
`localaws:seconds` choose how it ends and how long it says that it trains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from moto.sagemaker.exceptions import ValidationError

ENDING_TAG = "localaws:ending"
SECONDS_TAG = "localaws:seconds"

TRAINING_S = 3.0
OTHER_S = 1.0
"""Of each other stage."""

_MESSAGES = {
    "Starting": "Preparing the instances for training",
    "Downloading": "Downloading input data",
    "Training": "Training image download completed. Training in progress. (Local AWS: nothing "
    "trains here.)",
    "Interrupted": "Training job interrupted by managed spot training",
    "Uploading": "Uploading generated training model",
    "Stopping": "Stopping the training job",
    "Completed": "Training job completed",
    "Failed": "Training job failed",
    "Stopped": "Training job stopped",
    "MaxRuntimeExceeded": "Training job runtime exceeded MaxRuntimeInSeconds provided",
}

_ENDS = ("Completed", "Failed", "Stopped", "MaxRuntimeExceeded")

_PATHS: Mapping[str, tuple[str, ...]] = {
    "Completed": ("Starting", "Downloading", "Training", "Uploading", "Completed"),
    "Failed": ("Starting", "Downloading", "Training", "Failed"),
    "CapacityError": ("Starting", "Failed"),
    "MaxRuntimeExceeded": (
        "Starting",
        "Downloading",
        "Training",
        "Stopping",
        "MaxRuntimeExceeded",
    ),
    "Interrupted": (
        *("Starting", "Downloading", "Training", "Interrupted"),
        *("Starting", "Downloading", "Training", "Uploading", "Completed"),
    ),
}
"""By the tag's value. `Interrupted` is an interruption of spot capacity, after which it goes on."""


@dataclass(frozen=True)
class Stage:
    """One stage; times are seconds after the job was made."""

    status: str
    start_s: float
    end_s: float | None
    """None: it does not end."""

    @property
    def message(self) -> str:
        return _MESSAGES[self.status]

    @property
    def is_end(self) -> bool:
        return self.end_s is None


@dataclass(frozen=True)
class Course:
    """What becomes of a job that nobody stops."""

    ending: str
    training_s: float

    @staticmethod
    def of(tags: Mapping[str, str]) -> Course:
        """Return what a job's tags ask for.

        Raises:
            ValidationError: One has a value that is not known.
        """
        ending = tags.get(ENDING_TAG, "Completed")
        if ending not in _PATHS:
            raise ValidationError(
                message=f"Tag {ENDING_TAG} {ending}: local AWS knows {', '.join(_PATHS)}"
            )
        try:
            return Course(ending, float(tags.get(SECONDS_TAG, TRAINING_S)))
        except ValueError as error:
            raise ValidationError(
                message=f"Tag {SECONDS_TAG} {tags[SECONDS_TAG]}: must be a number"
            ) from error

    def stages(self, stopped_s: float | None = None) -> list[Stage]:
        """Return all stages, with the last that ends nothing.

        Args:
            stopped_s: When the job was asked to stop, where it was.
        """
        planned = list(self._planned())
        if stopped_s is None or stopped_s >= planned[-1].start_s:
            return planned
        before = [stage for stage in planned if stage.start_s <= stopped_s]
        cut = Stage(before[-1].status, before[-1].start_s, stopped_s)
        over_s = stopped_s + OTHER_S
        stopping = Stage("Stopping", stopped_s, over_s)
        return [*before[:-1], cut, stopping, Stage("Stopped", over_s, None)]

    def _planned(self) -> Iterator[Stage]:
        at_s = 0.0
        for status in _PATHS[self.ending]:
            if status in _ENDS:
                yield Stage(status, at_s, None)
                return
            end_s = at_s + (self.training_s if status == "Training" else OTHER_S)
            yield Stage(status, at_s, end_s)
            at_s = end_s
