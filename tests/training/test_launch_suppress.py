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


def test_a_code_that_is_not_known_is_an_error_with_the_nearest(plan: Plan) -> None:
    done = plan("--suppress", "cost-unknwon")
    assert isinstance(done.exception, UsageError)
    assert "did you mean cost-unknown" in str(done.exception)
    assert done.stdout == ""
