"""`python -m training.preflight --stacks`, against a local AWS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws

# What moto lacks; on AWS these are answered.
UNANSWERED = {"check-not-answered"}


def preflight(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.preflight", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def env(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user of a local AWS that is bootstrapped."""
    local_aws.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="28", Type="String", Overwrite=True
    )
    # A .cdk.json of whoever runs the tests is no part of them.
    return local_aws.process_env() | {"HOME": str(tmp_path_factory.mktemp("home"))}


def report(answer: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def test_the_default_settings_pass(env: dict[str, str]) -> None:
    answer = preflight(env, "--stacks", "--format", "json")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found = report(answer)
    assert (found["account"], found["region"]) == ("123456789012", "us-east-1")
    assert found["checks"] >= 10
    # By default nobody may use the Kubernetes cluster, which is a remark.
    expected = UNANSWERED | {"kubernetes-without-admins"}
    assert {finding["code"] for finding in found["findings"]} <= expected


def test_what_is_not_there_is_an_error_with_its_key(env: dict[str, str]) -> None:
    answer = preflight(
        env,
        "--stacks",
        *("-c", "efs_id=fs-0123456789abcdef0"),
        *("-c", "fsx=none"),
        *("--suppress", "check-not-answered"),
    )
    assert answer.returncode == 3
    assert answer.stdout.startswith("error: efs-missing: efs_id is fs-0123456789abcdef0")
    assert "1 error(s) found" in answer.stderr


def test_only_and_suppress_choose_among_findings(env: dict[str, str]) -> None:
    broken = ("--stacks", "-c", "efs_id=fs-0123456789abcdef0", "-c", "fsx=none")
    only = preflight(env, *broken, "--only", "bootstrap-missing", "--format", "json")
    assert only.returncode == 0
    assert report(only)["checks"] == 1
    assert report(only)["findings"] == []
    suppressed = preflight(env, *broken, "--suppress", "efs-missing")
    assert suppressed.returncode == 0


def test_another_account_is_told_whatever_was_asked_for(env: dict[str, str]) -> None:
    answer = preflight(
        env,
        "--stacks",
        *("-c", "aws_account=210987654321", "-c", "aws_region=us-east-1"),
        *("--suppress", "account-differs", "--only", "vpc-missing"),
    )
    assert answer.returncode == 3
    assert answer.stdout.startswith("error: account-differs: aws_account is 210987654321")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to check: a job (JOB.yaml, or options as for training.launch)"),
        (["--stacks", "-c", "vpc=1"], "context key vpc is not known"),
        (["--stacks", "-c", "nat_gateways=many"], "context key nat_gateways = 'many'"),
        (["--stacks", "-c", "nat_gateways"], "-c nat_gateways: not of the form key=value"),
        (["--stacks", "--only", "vpc-mising"], "did you mean vpc-missing"),
    ],
)
def test_wrong_usage_is_one_line_and_asks_nobody(arguments: list[str], message: str) -> None:
    unreachable = {
        **os.environ,
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_REGION": "us-east-1",
    }
    answer = preflight(unreachable, *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_where_nobody_answers_it_ends_with_4_and_one_line(env: dict[str, str]) -> None:
    answer = preflight(env | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "--stacks")
    assert answer.returncode == 4
    assert answer.stderr.startswith("error: http://127.0.0.1:9: no local AWS answers.")
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_the_settings_are_read_without_the_cdk(env: dict[str, str]) -> None:
    script = (
        "import atexit, sys\n"
        "from training.preflight.__main__ import app, run\n"
        "atexit.register(lambda: print(sorted(sys.modules), file=sys.stderr))\n"
        "sys.argv = ['preflight', '--stacks', '--only', 'bootstrap-missing']\n"
        "run(app)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    modules = answer.stderr.splitlines()[-1]
    assert "'stacks.settings'" in modules
    assert "'aws_cdk'" not in modules
    assert "'jsii'" not in modules
