"""The variables that the plan of a job sets; training/platforms/sagemaker/ writes them."""

import os
import tempfile
from typing import Mapping, NamedTuple

from .errors import EntrypointError
from .json_file import read_object
from .paths import MlPaths

DISTRIBUTIONS = ("mpi", "torchrun", "smddp", "elastic")
MOST_PROCESSES = 64


class Settings(NamedTuple):
    """How a job runs."""

    algorithm: str
    distribution: str
    processes_per_host: int
    data: str
    log: str


def read_settings(
    environ: Mapping[str, str], paths: MlPaths, *, needs_data: bool = True
) -> Settings:
    """Read and check the variables, and whether the folders that they name are there.

    Raises:
        EntrypointError: One is missing or cannot be.
    """
    settings = Settings(
        algorithm=_text(environ, "MASK_RCNN_ALGORITHM"),
        distribution=_distribution(environ),
        processes_per_host=_processes(environ),
        data=_text(environ, "MASK_RCNN_DATA"),
        log=_text(environ, "MASK_RCNN_LOG"),
    )
    if needs_data:
        _check_data(settings.data, paths)
    _check_log(settings.log)
    return settings


def _text(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise EntrypointError(
            f"{name}: is not set. `python -m training.launch` sets it; a job that is made by hand "
            "has to name it in its environment"
        )
    return value


def _distribution(environ: Mapping[str, str]) -> str:
    value = _text(environ, "MASK_RCNN_DISTRIBUTION")
    if value not in DISTRIBUTIONS:
        raise EntrypointError(
            f"MASK_RCNN_DISTRIBUTION: {value!r} is not one of {', '.join(DISTRIBUTIONS)}"
        )
    return value


def _processes(environ: Mapping[str, str]) -> int:
    value = _text(environ, "MASK_RCNN_PROCESSES_PER_HOST")
    if not value.isdigit() or not 1 <= int(value) <= MOST_PROCESSES:
        raise EntrypointError(
            f"MASK_RCNN_PROCESSES_PER_HOST: {value!r}; expected a number from 1 to {MOST_PROCESSES}"
        )
    return int(value)


def _check_data(folder: str, paths: MlPaths) -> None:
    channels = sorted(read_object(paths.channels)) if os.path.exists(paths.channels) else ["train"]
    if os.path.isdir(folder) and os.listdir(folder):
        return
    what = "is empty" if os.path.isdir(folder) else "is no folder"
    raise EntrypointError(
        f"MASK_RCNN_DATA: {folder}: {what}; the job's channels are "
        f"{', '.join(channels) or 'none'}. Check the channel `train` of the job and what lies there"
    )


def _check_log(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
        # A name of its own: all hosts look at once, and in each this is process 1.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise EntrypointError(
            f"MASK_RCNN_LOG: {folder}: cannot be written to ({error.strerror}) by user id "
            f"{os.geteuid()}; {_owner(folder)}. It is the channel `log` of the job (read-write), "
            "/opt/ml/checkpoints (CheckpointConfig), or on EKS a folder of a file system that "
            "`python -m training.kubernetes install` has made ready for pods"
        )


def _owner(folder: str) -> str:
    """Say whose the folder is, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        return f"{folder} belongs to user id {os.stat(folder).st_uid}"
    except OSError as error:
        return f"{folder}: {error.strerror}"
