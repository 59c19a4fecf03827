"""The algorithms: one module each, imported when chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

    from training.algorithms.learning_rates import LearningRates
    from training.algorithms.metric import Metric

Distribution = Literal["elastic", "mpi", "torchrun", "smddp"]
"""What starts the processes of a job and joins them."""

_MODULES = {
    "horovod": "training.algorithms.horovod",
    "tensorpack": "training.algorithms.tensorpack",
    "aws-samples": "training.algorithms.aws_samples",
    "tf2-smddp": "training.algorithms.tf2_smddp",
}

NAMES = tuple(_MODULES)


class Algorithm(Protocol):
    """What a platform asks of an algorithm."""

    HYPERPARAMETERS: type[BaseModel]
    """Its hyperparameters, typed, with their defaults."""
    REPOSITORY: str
    """The field of RegistryOutputs that has the repository of its image."""
    METRICS: tuple[Metric, ...]
    """What it prints."""
    DEFAULT_INSTANCES: tuple[str, int]
    """Instance type, as EC2 names it, and count where the job says nothing."""
    READS_RECORDS: bool
    """Whether it reads pictures from TFRecords, and not COCO's own files."""

    def splits(self, hyperparameters: BaseModel) -> Sequence[str]:
        """Return the splits of the data set that the job reads, each once."""

    def weight_files(self, hyperparameters: BaseModel) -> Mapping[str, str]:
        """Return the files that the job begins with: name of the hyperparameter to file."""

    def bad_annotations(self, hyperparameters: BaseModel) -> Literal["stop", "skip"]:
        """Return `stop` or `skip`: what to do with annotations that cannot be trained on."""

    def learning_rates(self, hyperparameters: BaseModel, *, world_size: int) -> LearningRates:
        """Return the course of the learning rate for so many processes."""

    def impossible(
        self, hyperparameters: BaseModel, *, distribution: Distribution, gpus: int
    ) -> Sequence[str]:
        """Return a line for each hyperparameter that cannot be had: name, value, what can.

        Args:
            distribution: What joins the processes.
            gpus: Of each machine.
        """


class RunsHere(Algorithm, Protocol):
    """An algorithm that platform `local` can start."""

    def command(self, *, data: str, log_dir: str, hyperparameters: str, resume: bool) -> list[str]:
        """Return the arguments after the interpreter that start one training process.

        Args:
            data: Folder of the `train` channel.
            log_dir: Folder of the `log` channel.
            hyperparameters: JSON file with the resolved hyperparameters.
            resume: Go on from the newest checkpoint in the log channel.
        """


def load(name: str) -> Algorithm:
    """Import the algorithm of that name, which must be one of `NAMES`."""
    return cast(Algorithm, import_module(_MODULES[name]))
