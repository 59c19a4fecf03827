"""Makes the log folder of a job on EFS or FSx as planned: here, or by a training job."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.errors import Interrupted, JobFailed, PreflightError, UsageError
from training.platforms.api import StepBefore

MAX_RUN_S = 1800
"""The work takes seconds; the rest is the start of an instance and the pull of the image."""

FOR_ALL = 0o1777
"""The mode of a log folder that is made here: its owner is whoever launches, and containers are
root, or nobody where the policy of EFS takes root's rights away."""

RunJob = Callable[[Mapping[str, Any]], None]
"""Submits a training job and follows it to its end.

Raises `JobFailed` with SageMaker's reason, or `AwsError` where it was refused.
"""


@dataclass(frozen=True, kw_only=True)
class FolderHere(StepBefore):
    """The log folder is made on this machine."""

    log: Path
    train: Path
    resume: bool


@dataclass(frozen=True, kw_only=True)
class FolderJob(StepBefore):
    """The log folder is made by a training job: the step's request."""

    name: str
    log: str
    train: str
    file_system_id: str


def prepare(step: FolderHere | FolderJob, run_job: RunJob) -> None:
    """Do what was planned.

    Raises:
        PreflightError: The `train` folder is missing, or the log folder is another job's.
        UsageError: The folder cannot be made on this machine.
        JobFailed: The training job that makes folders failed for another reason.
        AwsError: SageMaker refused it.
        Interrupted: The user did not wait for it.
    """
    if isinstance(step, FolderHere):
        _make_here(step)
    else:
        _make_by_job(step, run_job)


def _make_here(step: FolderHere) -> None:
    if not _is_folder(step.train):
        raise _train_missing(str(step.train))
    if step.resume:
        if not _is_folder(step.log):
            raise _nothing_to_resume(str(step.log))
        return
    try:
        step.log.mkdir(parents=True, exist_ok=True)
        is_used = any(step.log.iterdir())
        if not is_used:
            step.log.chmod(FOR_ALL)
    except OSError as error:
        raise UsageError(
            f"{step.log}: the log folder cannot be made ({error.strerror}); choose another place "
            "with channels.log"
        ) from error
    if is_used:
        raise _of_another_job(str(step.log))


def _make_by_job(step: FolderJob, run_job: RunJob) -> None:
    assert step.request is not None
    try:
        run_job(step.request)
    except JobFailed as error:
        raise _reason(step, error) from error
    except Interrupted as error:
        raise Interrupted(
            f"before the log folder was there: training job {step.name} makes it and ends within "
            f"{MAX_RUN_S // 60} minutes by itself; the training was not started"
        ) from error


def _reason(step: FolderJob, error: JobFailed) -> Exception:
    """Return what a failure of the training job means, by what its container said."""
    text, place = str(error), f"/{{}} of file system {step.file_system_id}"
    if (seen := _after(f"missing: {step.train}", text)) is not None:
        return _train_missing(place.format(step.train) + seen)
    if (seen := _after(f"missing: {step.log}", text)) is not None:
        return _nothing_to_resume(place.format(step.log) + seen)
    if _after(f"not empty: {step.log}", text) is not None:
        return _of_another_job(place.format(step.log))
    return JobFailed(f"the log folder was not made, and the training was not started: {text}")


def _after(words: str, text: str) -> str | None:
    """Return what stands in brackets after some words: what is there; None without the words."""
    match = re.search(rf"{re.escape(words)}(?![\w./-])( \([^()]*\))?", text)
    return match and (match[1] or "")


def _train_missing(place: str) -> PreflightError:
    return PreflightError(
        f"there is no folder of training data: {place}. Stage a set there (python -m training.data "
        "stage), or name its folder with channels.train; the training was not started"
    )


def _nothing_to_resume(place: str) -> PreflightError:
    return PreflightError(
        f"there is no log folder of a job of this name: {place}. Check --name, or leave --resume "
        "out to start it"
    )


def _of_another_job(place: str) -> PreflightError:
    return PreflightError(
        f"the log folder is in use, by a job of this name: {place}. Give another --name, or add "
        "--resume to go on from its last checkpoint"
    )


def _is_folder(path: Path) -> bool:
    """Return whether this user can see a folder there."""
    try:
        return path.is_dir()
    except OSError:
        return False
