"""`status --watch`: a line for each change, and the job's own end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from training.aws.errors import AwsRefused
from training.cli import run
from training.errors import AwsError
from training.jobs import status
from training.jobs.__main__ import app
from training.jobs.info import JobInfo, Status
from training.platforms.common.ending import conclude

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


@dataclass(frozen=True)
class EndedJob:
    """As a platform tells of one."""

    name: str
    status: Status
    reason: str | None
    exit_code: int | None


ENDED = EndedJob(name="job-1", status="failed", reason=None, exit_code=None)

Invoke = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Watch a job that answers so; errors are raised."""

    def invoke(*answers: Any, options: tuple[str, ...] = ()) -> tuple[int, list[str], str]:
        left = list(answers)

        class Jobs:
            def status(self, name: str) -> JobInfo:
                assert name == "job-1"
                answer = self.last = left.pop(0)
                if isinstance(answer, BaseException):
                    raise answer
                return replace(JOB, **answer)

            def conclude(self, name: str) -> None:
                assert name == "job-1"
                said: dict[str, Any] = {"reason": "a bus error", "exit_code": 7}
                conclude(replace(ENDED, status=self.last["status"], **said), last_lines=())

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
    ("end", "code", "said"),
    [
        ("completed", 0, ""),
        ("failed", 1, "error: job-1 failed: a bus error (exit code 7)\n"),
        (
            "checkpointed",
            75,
            "stopped: job-1 was stopped with a checkpoint: a bus error; to go on: the same launch "
            "command with --resume --name job-1\n",
        ),
        (
            "stopped",
            130,
            "stopped: job-1 was stopped before there was a checkpoint: a bus error. To begin anew, "
            "launch it under another --name\n",
        ),
    ],
)
def test_it_ends_as_following_the_job_does(watch: Invoke, end: str, code: int, said: str) -> None:
    assert watch(RUNS, {"status": end})[::2] == (code, said)


def test_an_answer_that_does_not_come_is_asked_for_again_and_told_once(watch: Invoke) -> None:
    silent = AwsError("no route")
    code, lines, stderr = watch(RUNS, silent, silent, silent, RUNS, {"status": "completed"})
    assert (code, stderr) == (0, "no route; asks again\nthere is an answer again\n")
    assert len([line for line in lines if "running" in line]) == 1


def test_a_refusal_that_stays_ends_the_watching_at_once(watch: Invoke) -> None:
    refused = AwsRefused(
        "not yours", operation="DescribeTrainingJob", code="AccessDeniedException", request_id="1"
    )
    code, _, stderr = watch(RUNS, refused)
    assert (code, stderr) == (4, f"error: not yours. {LEFT}\n")


LEFT = (
    "job-1 is not watched any more; if it runs, it goes on. Watch it again: "
    "python -m training.jobs status --watch job-1 --platform sagemaker"
)


def test_one_that_never_comes_ends_the_watching(
    watch: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "GIVE_UP_S", -1)
    code, _, stderr = watch(RUNS, AwsError("no route"))
    assert (code, stderr) == (4, f"error: no route. {LEFT}\n")


def test_ctrl_c_ends_the_watching_alone(watch: Invoke) -> None:
    code, _, stderr = watch(RUNS, KeyboardInterrupt())
    assert (code, stderr) == (
        130,
        "stopped: watching; job-1 goes on. Watch it again: python -m training.jobs status --watch "
        "job-1 --platform sagemaker; end it: python -m training.jobs stop job-1 --platform "
        "sagemaker\n",
    )


def test_json_is_printed_once_and_not_watched(watch: Invoke) -> None:
    code, lines, stderr = watch(RUNS, options=("--format", "json"))
    assert (code, lines) == (2, [])
    assert "--watch: shows lines for people" in stderr
