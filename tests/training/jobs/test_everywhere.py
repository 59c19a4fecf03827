"""The jobs of all platforms: what one does not answer hides nothing of the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.jobs.test_watch import JOB
from training.cli import run
from training.errors import AwsError, UsageError
from training.jobs import everywhere
from training.jobs.__main__ import app
from training.jobs.info import JobInfo
from training.outputs import StackMissing
from training.prices.usage import Usage

HOURS = Usage(
    service="ec2-on-demand",
    region="us-east-1",
    instance_type="p3.16xlarge",
    count=1,
    seconds=3600,
)

Invoke = Callable[..., tuple[int, str, str]]


def job(name: str, hour: int, **changes: Any) -> JobInfo:
    created = datetime(2026, 1, 2, hour, tzinfo=UTC)
    return replace(JOB, name=name, status="running", created=created, **changes)


class Jobs:
    def __init__(self, *jobs: JobInfo | AwsError) -> None:
        self.found = jobs

    def jobs(self, *, limit: int) -> list[JobInfo]:
        for each in self.found:
            if isinstance(each, AwsError):
                raise each
        return [each for each in self.found if isinstance(each, JobInfo)][:limit]


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    def call(platforms: dict[str, Any], *arguments: str) -> tuple[int, str, str]:
        def load(name: str, _: Any) -> Any:
            found = platforms[name]
            if isinstance(found, Exception):
                raise found
            return found

        monkeypatch.setattr(everywhere, "load", load)
        monkeypatch.setattr("sys.argv", ["jobs", *arguments])
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return call


MISSING = StackMissing("KubernetesStack is not there")
THREE = {
    "sagemaker": Jobs(job("s-3", 3), job("s-1", 1)),
    "ec2": Jobs(job("e-2", 2, usage=(HOURS,))),
    "eks": MISSING,
}


def test_jobs_of_all_platforms_are_one_list_newest_first(invoke: Invoke) -> None:
    code, stdout, stderr = invoke(THREE, "list", "--platform", "all")
    rows = [line.split() for line in stdout.splitlines()]
    assert code == 0
    assert [(row[0], row[-1]) for row in rows] == [
        ("NAME", "PLATFORM"), ("s-3", "sagemaker"), ("e-2", "ec2"), ("s-1", "sagemaker"),
    ]  # fmt: skip
    assert stderr == "Not deployed, and left out: eks\n"
    code, stdout, _ = invoke(THREE, "list", "--platform", "all", "--limit", "2", "--format", "json")
    found = [(each["name"], each["platform"]) for each in json.loads(stdout)["jobs"]]
    assert (code, found) == (0, [("s-3", "sagemaker"), ("e-2", "ec2")])


def test_what_one_does_not_answer_is_an_error_after_what_the_others_did(invoke: Invoke) -> None:
    platforms = {**THREE, "ec2": Jobs(AwsError("no route")), "eks": AwsError("access denied")}
    code, stdout, stderr = invoke(platforms, "list", "--platform", "all")
    assert code == 4
    assert [line.split()[0] for line in stdout.splitlines()] == ["NAME", "s-3", "s-1"]
    assert stderr == "error: eks: access denied; ec2: no route\n"


def test_costs_of_all_are_added_up(invoke: Invoke) -> None:
    code, stdout, _ = invoke(THREE, "cost", "--platform", "all", "--format", "json")
    found = json.loads(stdout)
    assert (code, found["total"]) == (0, 24.48)
    assert [each["platform"] for each in found["jobs"]] == ["sagemaker", "ec2", "sagemaker"]


@pytest.mark.parametrize(
    ("platforms", "arguments", "code", "said"),
    [
        # Asked for by its name, a platform that is not there is wrong usage.
        (THREE, ("list", "--platform", "eks"), 2, "error: KubernetesStack is not there\n"),
        (THREE, ("cost", "NAME", "--platform", "all"), 2, "error: --platform all: adds up the"),
        (
            {**THREE, "ec2": UsageError("ClusterStack.X is 'y'")},
            ("list", "--platform", "all"), 2, "error: ClusterStack.X is 'y'\n",
        ),
        (
            {**THREE, "sagemaker": Jobs(AwsError("no route"))},
            ("list",), 4, "error: no route\n",
        ),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_platform(
    invoke: Invoke, platforms: Any, arguments: Any, code: int, said: str
) -> None:
    found = invoke(platforms, *arguments)
    assert found[:2] == (code, "")
    assert said in found[2]
