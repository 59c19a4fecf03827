"""Whether a job is new, told from its names."""

from __future__ import annotations

import pytest

from tests.training.platforms.sagemaker.containers.small_job import request_body
from training.errors import PreflightError
from training.platforms.sagemaker.containers.first_run import (
    is_first_run,
    require_right_start,
    run_name,
)

AGAIN = request_body(TrainingJobName="mask-rcnn-efs-one-2026-01-02-03-04-05")
ON_S3 = request_body(InputDataConfig=[], CheckpointConfig={"S3Uri": "s3://b/out/log-one"})


def test_one_that_goes_on_is_called_after_the_first_and_the_time() -> None:
    assert is_first_run(request_body())
    assert not is_first_run(AGAIN)
    assert is_first_run(ON_S3)
    assert not is_first_run({**ON_S3, "TrainingJobName": "one-2026-01-02-03-04-05"})


def test_what_goes_on_is_named_after_the_log_folder() -> None:
    assert [run_name(body) for body in (request_body(), AGAIN, ON_S3)] == ["one"] * 3


def test_a_new_job_in_a_used_folder_is_refused() -> None:
    require_right_start(request_body(), "/log-one", is_used=False)
    with pytest.raises(PreflightError, match="/log-one is in use, by a job of this name"):
        require_right_start(request_body(), "/log-one", is_used=True)


def test_going_on_from_nothing_is_refused() -> None:
    require_right_start(AGAIN, "/log-one", is_used=True)
    with pytest.raises(PreflightError, match="/log-one: there is nothing of a job of this name"):
        require_right_start(AGAIN, "/log-one", is_used=False)
