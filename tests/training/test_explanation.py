"""`launch --explain`: each value, and where it is from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from training.explanation import Explained, explain_job
from training.job_options import JobOptions
from training.launch import app

JOB = """
platform: sagemaker
algorithm: tensorpack
instances:
  type: p3.16xlarge
  count: 4
tags:
  team: vision
hyperparameters:
  batch_norm: GN
  config:TRAIN:
    BASE_LR: 0.02
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


def by_key(explained: list[Explained]) -> dict[str, tuple[Any, str]]:
    return {each.key: (each.value, each.source) for each in explained}


def test_each_value_has_the_last_place_that_set_it(job: Path) -> None:
    options = JobOptions(
        job_file=job,
        instance_count=2,
        # An option counts more than --set, and that more than the file.
        assignments=["instances.count=3", "limits.max_run_s=60", "tags.owner=me"],
    )
    found = by_key(explain_job(options))
    assert found["algorithm"] == ("tensorpack", str(job))
    assert found["instances.type"] == ("p3.16xlarge", str(job))
    assert found["instances.count"] == (2, "--instance-count")
    assert found["limits.max_run_s"] == (60, "--set")
    assert found["tags"] == ({"team": "vision", "owner": "me"}, "--set")
    assert found["retries"] == (0, "default")
    assert found["name"] == (None, "default")
    assert found["hyperparameters.batch_norm"] == ("GN", str(job))
    assert found["hyperparameters.config:TRAIN.BASE_LR"] == ("0.02", str(job))
    assert found["hyperparameters.resnet_arch"] == ("resnet50", "default")


def test_options_of_other_platforms_are_left_out(job: Path) -> None:
    groups = {each.key.partition(".")[0] for each in explain_job(JobOptions(job_file=job))}
    assert "sagemaker" in groups
    assert not groups & {"local", "ec2", "eks"}


def test_a_value_that_tensorpacks_name_of_it_has_set_is_no_default() -> None:
    options = JobOptions(assignments=["hyperparameters.config:TRAIN.WEIGHT_DECAY=0.5"])
    found = by_key(explain_job(options))
    assert found["hyperparameters.weight_decay"] == (0.5, "--set")
    assert found["hyperparameters.momentum"][1] == "default"


def test_the_command_prints_lines_or_json_and_starts_nothing(job: Path) -> None:
    shown = CliRunner().invoke(app, [str(job), "--explain"])
    assert shown.exit_code == 0
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["retries:", "0", "#", "default"] in lines
    assert ["instances.count:", "4", "#", str(job)] in lines
    printed = CliRunner().invoke(app, [str(job), "--explain", "--format", "json"])
    assert {"key": "retries", "value": 0, "source": "default"} in json.loads(printed.stdout)
