"""The algorithms: one module each, imported when chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

_MODULES = {
    "horovod": "training.algorithms.horovod",
}

NAMES = tuple(_MODULES)


class Algorithm(Protocol):
    """What a platform asks of an algorithm."""

    HYPERPARAMETERS: type[BaseModel]
    """Its hyperparameters, typed, with their defaults."""

    def command(self, *, data: str, log_dir: str, hyperparameters: str, resume: bool) -> list[str]:
        """Return the arguments after the interpreter that start one training process.

        Args:
            data: Folder of the `train` channel.
            log_dir: Folder of the `log` channel.
            hyperparameters: JSON file with the resolved hyperparameters.
            resume: Go on from the newest checkpoint in the log channel.
        """

    def splits(self, hyperparameters: BaseModel) -> Sequence[str]:
        """Return the splits of the data set that the job reads, each once."""

    def weight_files(self, hyperparameters: BaseModel) -> Mapping[str, str]:
        """Return the files that the job begins with: name of the hyperparameter to file."""

    def bad_annotations(self, hyperparameters: BaseModel) -> Literal["stop", "skip"]:
        """Return `stop` or `skip`: what to do with annotations that cannot be trained on."""


def load(name: str) -> Algorithm:
    """Import the algorithm of that name, which must be one of `NAMES`."""
    return cast(Algorithm, import_module(_MODULES[name]))
