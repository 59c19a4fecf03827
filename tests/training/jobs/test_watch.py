"""`status --watch`: a line for each change, and the job's own end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from training.cli import run
from training.errors import AwsError
from training.jobs import status
from training.jobs.__main__ import app
from training.jobs.info import JobInfo

JOB = JobInfo(
    name="job-1",
    status="waiting",
    detail="no step yet",
    message=None,
    machines="2 x p3.16xlarge",
    created=None,
    ended=None,
    billing=None,
    usage=(),
    model=None,
    log=None,
)

Invoke = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Watch a job that answers so; errors are raised."""

    def invoke(*answers: Any, options: tuple[str, ...] = ()) -> tuple[int, list[str], str]:
        left = list(answers)

        class Jobs:
            def status(self, name: str) -> JobInfo:
                assert name == "job-1"
                answer = left.pop(0)
                if isinstance(answer, BaseException):
                    raise answer
                return replace(JOB, **answer)

        monkeypatch.setattr(status, "load", lambda *_: Jobs())
        monkeypatch.setattr(status, "WATCH_S", 0)
        monkeypatch.setattr("sys.argv", ["jobs", "status", "job-1", "--watch", *options])
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out.splitlines(), said.err

    return invoke


RUNS = {"status": "running", "detail": "step 40"}


def test_each_change_is_one_line_until_the_end(watch: Invoke) -> None:
    code, lines, stderr = watch(
        {"message": "looks for its nodes"}, RUNS, RUNS, {**RUNS, "detail": "step 60"},
        {"status": "completed", "detail": "step 80"},
    )  # fmt: skip
    assert (code, stderr) == (0, "")
    assert [line[9:] for line in lines[:3]] == [
        "waiting (no step yet): looks for its nodes",
        "running (step 40)",
        "running (step 60)",
    ]
    assert lines[3:] == ["job-1: completed (step 80)", "  machines: 2 x p3.16xlarge"]


@pytest.mark.parametrize(
    ("end", "code"), [("completed", 0), ("failed", 1), ("checkpointed", 75), ("stopped", 130)]
)
def test_it_ends_with_the_jobs_exit_code(watch: Invoke, end: str, code: int) -> None:
    assert watch(RUNS, {"status": end})[0] == code


def test_an_answer_that_does_not_come_is_asked_for_again(watch: Invoke) -> None:
    code, lines, stderr = watch(RUNS, AwsError("no route"), RUNS, {"status": "completed"})
    assert (code, stderr) == (0, "no route; asks again\n")
    assert len([line for line in lines if "running" in line]) == 1


def test_one_that_never_comes_ends_the_watching(
    watch: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "GIVE_UP_S", -1)
    code, _, stderr = watch(RUNS, AwsError("no route"))
    assert (code, stderr) == (4, "error: no route\n")


def test_ctrl_c_ends_the_watching_alone(watch: Invoke) -> None:
    code, _, stderr = watch(RUNS, KeyboardInterrupt())
    assert (code, stderr) == (130, "stopped: the watching alone; job-1 goes on\n")


def test_json_is_printed_once_and_not_watched(watch: Invoke) -> None:
    code, lines, stderr = watch(RUNS, options=("--format", "json"))
    assert (code, lines) == (2, [])
    assert "--watch: shows lines for people" in stderr
