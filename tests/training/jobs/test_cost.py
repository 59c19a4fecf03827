"""`python -m training.jobs cost`, on each platform."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from training.cli import run
from training.errors import UsageError
from training.jobs import control, everywhere, status
from training.jobs.__main__ import app
from training.jobs.info import JobInfo
from training.prices.usage import NotKnown, Usage

HOUR = Usage(
    service="ec2-on-demand",
    region="us-east-1",
    instance_type="p3.16xlarge",
    count=2,
    seconds=3600,
)
GONE = NotKnown("its pods are gone")
OTHER = replace(HOUR, instance_type="p6-b300.48xlarge", count=1)


class Jobs:
    """A platform with jobs: by name, what its list and its status tell of what each has used."""

    def __init__(self, **usage: Any) -> None:
        self.listed = usage
        self.known: dict[str, Any] = {}
        self.asked: list[str] = []

    def jobs(self, *, limit: int) -> list[JobInfo]:
        return [_job(name, usage) for name, usage in self.listed.items()][:limit]

    def status(self, name: str) -> JobInfo:
        self.asked.append(name)
        if name not in self.listed:
            raise UsageError(f"{name}: no such job")
        return _job(name, self.known.get(name, self.listed[name]))


def _job(name: str, usage: Any) -> JobInfo:
    return JobInfo(
        name=name,
        status="running",
        detail="step 40",
        message=None,
        machines="2 x p3.16xlarge",
        created=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        ended=None,
        billing=None,
        usage=usage,
        model=None,
        log=None,
    )


class Invoke:
    """Runs a command about the jobs of a platform; tells exit code, stdout and stderr."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path
    ) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def __call__(self, jobs: Jobs, *arguments: str) -> tuple[int, str, str]:
        for module in (everywhere, status):
            self._monkeypatch.setattr(module, "load", lambda *_: jobs)
        self._monkeypatch.setattr("sys.argv", ["jobs", *arguments])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err


@pytest.fixture
def invoke(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Invoke:
    return Invoke(monkeypatch, capsys, tmp_path)


def test_the_newest_jobs_are_added_up(invoke: Invoke) -> None:
    jobs = Jobs(new=(replace(HOUR, seconds=1800),), waits=(), old=(HOUR,))
    code, stdout, stderr = invoke(jobs, "cost")
    assert code == 0
    assert stdout.splitlines() == [
        "NAME      STATUS   MACHINES         HOURS    USD",
        "new       running  2 x p3.16xlarge   1.00  24.48",
        "waits     running  2 x p3.16xlarge   0.00   0.00",
        "old       running  2 x p3.16xlarge   2.00  48.96",
        "sum of 3                             3.00  73.44",
    ]
    assert "old: 2 p3.16xlarge for 3,600 s at 24.48 USD an hour each, on demand" in stderr
    assert "left out: disks, S3" in stderr
    assert jobs.asked == []


def test_what_is_not_known_is_in_no_sum_and_is_said(invoke: Invoke) -> None:
    jobs = Jobs(dear=(HOUR, OTHER), gone=GONE, known=(HOUR,))
    code, stdout, stderr = invoke(jobs, "cost")
    assert code == 0
    assert [line.split()[-2:] for line in stdout.splitlines()] == [
        ["HOURS", "USD"],
        ["3.00", "unknown"],
        ["unknown", "unknown"],
        ["2.00", "48.96"],
        ["5.00", "48.96"],
    ]
    assert "2 of 3 jobs are not in the sum: what they cost is not known." in stderr
    assert "gone: its pods are gone" in stderr
    found = json.loads(invoke(jobs, "cost", "--format", "json")[1])
    assert (found["total"], found["of_known"], found["unknown"]) == (None, 48.96, 2)
    assert [each["so_far"] for each in found["jobs"]] == [None, None, 48.96]


def test_a_job_of_which_the_list_tells_too_little_is_asked_after(invoke: Invoke) -> None:
    jobs = Jobs(a=GONE, b=(HOUR,))
    jobs.known["a"] = (HOUR,)
    found = json.loads(invoke(jobs, "cost", "--format", "json")[1])
    assert (found["total"], jobs.asked) == (97.92, ["a"])


def test_jobs_that_are_named_are_each_counted_once(invoke: Invoke) -> None:
    jobs = Jobs(a=(HOUR,), b=(HOUR,), c=(HOUR,))
    found = json.loads(invoke(jobs, "cost", "c", "a", "c", "--format", "json")[1])
    assert ([each["name"] for each in found["jobs"]], found["total"]) == (["c", "a"], 97.92)
    assert found["jobs"][0]["created"] == "2026-01-02T03:04:05+00:00"
    code, stdout, stderr = invoke(jobs, "cost", "a", "x")
    assert (code, stdout, stderr) == (2, "", "error: x: no such job\n")


def test_no_jobs_cost_nothing(invoke: Invoke) -> None:
    assert invoke(Jobs(), "cost") == (0, "", "No jobs of this program.\n")


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ((HOUR,), "  cost: about 48.96 USD so far, on demand; `cost` says of what"),
        (GONE, "  cost: not known: its pods are gone"),
    ],
)
def test_status_says_what_a_job_has_cost(invoke: Invoke, usage: Any, said: str) -> None:
    assert said in invoke(Jobs(a=usage), "status", "a")[1].splitlines()


def test_status_says_nothing_of_a_job_that_waits_for_its_machines(invoke: Invoke) -> None:
    assert "cost" not in invoke(Jobs(a=()), "status", "a")[1]
    money = json.loads(invoke(Jobs(a=()), "status", "a", "--format", "json")[1])["cost"]
    assert (money["so_far"], money["instance_hours"]) == (0, 0)


def test_local_jobs_have_no_cost() -> None:
    with pytest.raises(UsageError, match="--platform local: its jobs end with the command"):
        control.load("local")
