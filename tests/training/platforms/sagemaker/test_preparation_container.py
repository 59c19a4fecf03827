"""The training job that makes the log folder, with the images' own entry point in its container."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.training.platforms.sagemaker import planning
from training.errors import JobFailed, PreflightError
from training.platforms.sagemaker.log_folder import FolderJob, prepare

ENTRY_POINT = Path(__file__).parents[4] / "docker" / "entrypoint"
TRAIN = "data/mask-rcnn/sagemaker/input/train"
LOG = "data/mask-rcnn/sagemaker/output/log-2026-01-02-03-04-05"


class Container:
    """Runs a request's container arguments, with a folder as the file system."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.file_system = root / "input/data/root"

    def run(self, body: Mapping[str, Any]) -> None:
        done = subprocess.run(
            [sys.executable, ENTRY_POINT, *body["AlgorithmSpecification"]["ContainerArguments"]],
            env={**os.environ, **body["Environment"], "MASK_RCNN_ML_ROOT": str(self._root)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            failure = (self._root / "output/failure").read_text()
            raise JobFailed(f"AlgorithmError: {failure}, exit code: {done.returncode}")


@pytest.fixture
def container(tmp_path: Path) -> Container:
    made = Container(tmp_path)
    (made.file_system / TRAIN).mkdir(parents=True)
    return made


def step(*, resume: bool = False) -> FolderJob:
    launched = planning.launch(resume=resume)
    name: dict[str, Any] = {"name": "2026-01-02-03-04-05"} if resume else {}
    [found] = planning.plan(data_source="fsx", launched=launched, **name).before
    assert isinstance(found, FolderJob)
    return found


def test_the_folder_is_made_and_making_it_again_is_fine(container: Container) -> None:
    for _ in range(2):
        prepare(step(), container.run)
        assert list((container.file_system / LOG).iterdir()) == []


def test_where_there_is_no_data_the_launch_says_so_and_what_is_there(container: Container) -> None:
    (container.file_system / TRAIN).rmdir()
    with pytest.raises(PreflightError) as caught:
        prepare(step(), container.run)
    assert str(caught.value).startswith(
        f"there is no folder of training data: /{TRAIN} of file system fs-0123456789abcdef9 "
        "(data/mask-rcnn/sagemaker/input has nothing). Stage a set there"
    )
    assert not (container.file_system / LOG).exists()


def test_a_folder_with_files_is_for_a_job_that_goes_on_alone(container: Container) -> None:
    (container.file_system / LOG).mkdir(parents=True)
    (container.file_system / LOG / "job.json").touch()
    with pytest.raises(PreflightError, match="the log folder is in use"):
        prepare(step(), container.run)
    prepare(step(resume=True), container.run)


def test_a_job_that_goes_on_needs_its_folder(container: Container) -> None:
    with pytest.raises(PreflightError, match="there is no log folder of a job of this name"):
        prepare(step(resume=True), container.run)
    assert not (container.file_system / LOG).exists()
