"""`python -m training.preflight` on a job, against a local AWS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from tests.training.job_place import REGION, JobPlace, make_job_place

ACCOUNT = "123456789012"
# What local AWS lacks (on AWS these are answered), and what depends on the day.
ASIDE = {"check-not-answered", "price-old"}


def preflight(env: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.preflight", *map(str, arguments)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def findings(answer: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(answer.stdout)["findings"]
    return found


def errors(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return [each["code"] for each in findings(answer) if each["severity"] == "error"]


@pytest.fixture(scope="module")
def place(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> JobPlace:
    return make_job_place(local_aws, tmp_path_factory.mktemp("outputs"))


@pytest.fixture
def env(local_aws: LocalAws) -> dict[str, str]:
    """The environment of a laptop, on which no file system is mounted."""
    found = local_aws.process_env()
    del found["MASK_RCNN_MOUNTS"]
    return found


def job(place: JobPlace, source: str) -> list[str]:
    return [
        *("--platform", "sagemaker", "--instance-count", "2", "--format", "json"),
        *("--data-source", source, "--outputs-file", str(place.outputs_file)),
        *("--set", f"image={place.image}"),
    ]


def test_a_job_whose_things_are_all_there_has_no_finding(
    env: dict[str, str], place: JobPlace
) -> None:
    answer = preflight(env, *job(place, "s3"))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    assert (found["account"], found["region"]) == (ACCOUNT, REGION)
    assert found["checks"] >= 10
    assert {each["code"] for each in found["findings"]} <= ASIDE


def test_what_is_missing_is_found_all_at_once(env: dict[str, str], place: JobPlace) -> None:
    answer = preflight(
        env,
        *job(place, "efs"),
        *("--set", "hyperparameters.backbone_weights=/home/me/weights.pth"),
        *("--set", f"image={place.repository}:other"),
    )
    assert answer.returncode == 3
    assert errors(answer) == [
        "weights-outside-containers",
        "image-missing",
        "efs-mount-target-missing",
    ]
    assert "3 error(s) found: correct them before the launch" in answer.stderr


def test_findings_can_be_left_out_and_chosen(env: dict[str, str], place: JobPlace) -> None:
    broken = job(place, "efs")
    left_out = preflight(env, *broken, "--suppress", "efs-mount-target-missing")
    assert left_out.returncode == 0, left_out.stdout
    only = preflight(env, *broken, "--only", "image-missing")
    assert only.returncode == 0
    assert json.loads(only.stdout)["checks"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stacks", "--platform", "sagemaker"], "--stacks checks the settings of the stacks"),
        (["-c", "fsx=none", "--platform", "local"], "-c fsx=none: a setting of the stacks is"),
        (["--algorithm", "horovod", "--resume"], "--resume: say which job goes on"),
        (["job.yaml"], "job.yaml: cannot be read"),
    ],
)
def test_wrong_usage_is_one_line_and_asks_nobody(arguments: list[str], message: str) -> None:
    unreachable = os.environ | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": REGION}
    answer = preflight(unreachable, *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_where_nobody_answers_it_ends_with_4_and_one_line(
    env: dict[str, str], place: JobPlace
) -> None:
    nowhere = env | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    answer = preflight(nowhere, *job(place, "s3"))
    assert answer.returncode == 4
    assert answer.stderr.startswith("error: http://127.0.0.1:9: no local AWS answers.")
    assert answer.stdout == ""
