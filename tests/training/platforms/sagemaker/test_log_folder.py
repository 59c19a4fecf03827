"""The log folder is made, and what stands in its way is told."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from training.errors import AwsError, Interrupted, JobFailed, PreflightError, UsageError
from training.platforms.sagemaker.log_folder import FolderHere, FolderJob, prepare


def unwanted(_body: Mapping[str, Any]) -> None:
    raise AssertionError("no training job is needed")


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "train").mkdir()
    return tmp_path


def here(mount: Path, *, resume: bool = False) -> FolderHere:
    return FolderHere(
        what="make it", log=mount / "output/log-1", train=mount / "train", resume=resume
    )


def test_a_new_folder_is_made_with_its_parents(mount: Path) -> None:
    prepare(here(mount), unwanted)
    # Containers are another user than the one who launches.
    assert stat.S_IMODE((mount / "output/log-1").stat().st_mode) == 0o1777


def test_one_that_is_there_and_empty_is_fine(mount: Path) -> None:
    prepare(here(mount), unwanted)
    prepare(here(mount), unwanted)


def test_one_with_files_is_another_jobs_unless_that_goes_on(mount: Path) -> None:
    (mount / "output/log-1").mkdir(parents=True)
    (mount / "output/log-1/job.json").write_text("{}")
    with pytest.raises(PreflightError, match=r"log-1\. Give another --name, or add --resume"):
        prepare(here(mount), unwanted)
    prepare(here(mount, resume=True), unwanted)


def test_a_job_that_goes_on_needs_its_folder(mount: Path) -> None:
    with pytest.raises(PreflightError, match="no log folder of a job of this name"):
        prepare(here(mount, resume=True), unwanted)
    assert not (mount / "output").exists()


def test_without_data_nothing_is_made(mount: Path) -> None:
    (mount / "train").rmdir()
    with pytest.raises(PreflightError, match=f"no folder of training data: {mount / 'train'}"):
        prepare(here(mount), unwanted)
    assert not (mount / "output").exists()


def test_a_folder_that_cannot_be_made_says_where_to_choose_another(mount: Path) -> None:
    (mount / "output").write_text("a file")
    with pytest.raises(UsageError, match=r"log-1: the log folder cannot be made .*channels\.log"):
        prepare(here(mount), unwanted)


STEP = FolderJob(
    what="make it",
    request={"TrainingJobName": "j-folders"},
    name="j-folders",
    log="data/output/log-1",
    train="data/train",
    file_system_id="fs-1",
)


def test_the_training_job_is_sent_as_planned() -> None:
    sent: list[Mapping[str, Any]] = []
    prepare(STEP, sent.append)
    assert sent == [STEP.request]


@pytest.mark.parametrize(
    ("reason", "kind", "message"),
    [
        (
            "AlgorithmError: missing: data/train, exit code: 1",
            PreflightError,
            "there is no folder of training data: /data/train of file system fs-1. Stage",
        ),
        (
            "AlgorithmError: missing: data/train (data has nothing), exit code: 1",
            PreflightError,
            "there is no folder of training data: /data/train of file system fs-1 (data has",
        ),
        (
            "AlgorithmError: missing: data/output/log-1, exit code: 1",
            PreflightError,
            "there is no log folder of a job of this name: /data/output/log-1 of file system fs-1",
        ),
        (
            "AlgorithmError: not empty: data/output/log-1, exit code: 1",
            PreflightError,
            "the log folder is in use, by a job of this name: /data/output/log-1 of file system",
        ),
        (
            "CapacityError: Unable to provision requested ML compute capacity",
            JobFailed,
            "the log folder was not made, and the training was not started: j-folders failed: Cap",
        ),
    ],
)
def test_what_the_training_job_says_is_told_with_what_to_do(
    reason: str, kind: type[Exception], message: str
) -> None:
    def fail(_body: Mapping[str, Any]) -> None:
        raise JobFailed(f"j-folders failed: {reason}")

    with pytest.raises(kind) as caught:
        prepare(STEP, fail)
    assert str(caught.value).startswith(message)


def test_a_log_folder_below_the_data_is_told_from_it() -> None:
    step = replace(STEP, train="data", log="data/output/log-1")

    def fail(_body: Mapping[str, Any]) -> None:
        raise JobFailed("AlgorithmError: missing: data/output/log-1, exit code: 1")

    with pytest.raises(PreflightError, match="no log folder of a job of this name"):
        prepare(step, fail)


def test_what_sagemaker_refuses_stays_what_it_is() -> None:
    def refuse(_body: Mapping[str, Any]) -> None:
        raise AwsError("CreateTrainingJob: no (AccessDenied)")

    with pytest.raises(AwsError, match="AccessDenied"):
        prepare(STEP, refuse)


def test_who_does_not_wait_is_told_that_it_ends_by_itself() -> None:
    def stop(_body: Mapping[str, Any]) -> None:
        raise Interrupted("the job goes on")

    with pytest.raises(Interrupted, match="training job j-folders makes it and ends within 30 min"):
        prepare(STEP, stop)
