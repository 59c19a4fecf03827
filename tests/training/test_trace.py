"""`--verbose`: each request is told, with its id, and nothing that may be secret."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LocalAws
from training.shared_options import VERSION

PROJECT = Path(__file__).resolve().parents[2]
NAME = "no-such-job"


def call(aws: LocalAws, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**aws.process_env(), "PYTHONPATH": str(PROJECT), **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_requests_are_told_with_their_ids_on_stderr(local_aws: LocalAws) -> None:
    done = call(local_aws, "training.jobs", "status", NAME, "--verbose")
    first, *_ = done.stderr.splitlines()
    assert re.fullmatch(
        r"aws: sagemaker DescribeTrainingJob: 400, ValidationException, request \S+, \d+\.\d\d s",
        first,
    )
    assert (done.returncode, done.stdout) == (2, "")
    # As without it.
    plain = call(local_aws, "training.jobs", "status", NAME)
    assert plain.stderr == done.stderr.split("\n", 1)[1]


def test_a_variable_asks_for_it_too(local_aws: LocalAws) -> None:
    done = call(local_aws, "training.jobs", "status", NAME, MASK_RCNN_VERBOSE="1")
    assert done.stderr.startswith("aws: sagemaker DescribeTrainingJob: 400")
    done = call(local_aws, "training.jobs", "status", NAME, MASK_RCNN_VERBOSE="0")
    assert "aws:" not in done.stderr


def test_an_endpoint_that_is_down_is_told_too(local_aws: LocalAws) -> None:
    down = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    done = call(local_aws, "training.jobs", "status", NAME, "--verbose", **down)
    assert "aws: sagemaker DescribeTrainingJob: EndpointConnectionError" in done.stderr
    assert done.returncode == 4


@pytest.mark.parametrize("module", ["training.launch", "training.jobs", "training.maskrcnn.train"])
def test_every_command_line_tells_its_version(local_aws: LocalAws, module: str) -> None:
    done = call(local_aws, module, "--version")
    assert (done.returncode, done.stdout) == (0, f"distributed-mask-rcnn {VERSION}\n")
    assert f'version = "{VERSION}"' in (PROJECT / "pyproject.toml").read_text(encoding="utf-8")


def test_help_names_both(local_aws: LocalAws) -> None:
    done = call(local_aws, "training.launch", "--help")
    assert "--version" in done.stdout
    assert "--verbose" in done.stdout
