"""`--suppress`: a user who knows better than a check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.training.platforms.sagemaker.planning import STACKS
from training import launch
from training.errors import PreflightError, UsageError

Plan = Callable[..., Result]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan a job whose cost is not known and may not be above 0, offline."""
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps(STACKS))

    def run(*arguments: str) -> Result:
        dry_run = ["--platform", "sagemaker", "--dry-run", "--outputs-file", str(outputs)]
        limit = ["--set", "limits.max_usd=0", "--set", "instances.type=g5.xlarge"]
        return CliRunner().invoke(launch.app, [*dry_run, *limit, "--format", "json", *arguments])

    return run


def test_a_finding_that_is_suppressed_stops_nothing(plan: Plan) -> None:
    stopped = plan()
    assert isinstance(stopped.exception, PreflightError)
    assert "--suppress CODE" in str(stopped.exception)
    codes = [finding["code"] for finding in json.loads(stopped.stdout)["findings"]]
    assert "cost-unknown" in codes
    suppressed = plan("--suppress", "cost-unknown")
    assert suppressed.exit_code == 0
    left = [finding["code"] for finding in json.loads(suppressed.stdout)["findings"]]
    assert left == [code for code in codes if code != "cost-unknown"]


def test_what_was_suppressed_is_named_in_the_plan(plan: Plan) -> None:
    done = plan("--format", "text", "--suppress", "cost-unknown", "--suppress", "image-missing")
    assert done.stdout.splitlines()[-1] == "  suppressed: cost-unknown"


def test_an_offline_plan_says_that_nobody_was_asked(plan: Plan) -> None:
    findings = json.loads(plan("--suppress", "cost-unknown").stdout)["findings"]
    [found] = [each for each in findings if each["code"] == "account-not-asked"]
    assert found["severity"] == "info"
    assert "not checked: data, image, network, quotas, rights" in found["message"]


def test_containers_on_this_machine_have_no_account_to_ask(plan: Plan) -> None:
    done = plan("--instance-type", "local", "--suppress", "image-missing")
    codes = [found["code"] for found in json.loads(done.stdout)["findings"]]
    assert "account-not-asked" not in codes


def test_errors_are_told_once_and_named_at_the_end(plan: Plan) -> None:
    done = plan("--format", "text")
    assert str(done.exception).endswith(": cost-unknown")
    assert done.stdout.count("limits.max_usd is 0") == 1
    assert "limits.max_usd" not in str(done.exception)


def test_a_code_that_is_not_known_is_an_error_with_the_nearest(plan: Plan) -> None:
    done = plan("--suppress", "cost-unknwon")
    assert isinstance(done.exception, UsageError)
    assert "did you mean cost-unknown" in str(done.exception)
    assert done.stdout == ""
