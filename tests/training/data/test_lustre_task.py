"""What FSx may answer while a data repository task runs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.training.data.test_lustre import ID, FalseFsx, tasks_of
from training.data import lustre_task
from training.data.lustre_task import Tasks
from training.errors import AwsError, Interrupted, JobFailed

SUCCEEDED = {"DataRepositoryTasks": [{"Lifecycle": "SUCCEEDED"}]}
EXECUTING = {"DataRepositoryTasks": [{"Lifecycle": "EXECUTING"}]}
STRANGE = {"DataRepositoryTasks": [{"Lifecycle": "PAUSED"}]}


def refused(code: str, status: int = 400) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "DescribeDataRepositoryTasks")


class Answers(FalseFsx):
    """Answers each question about a task with the next of a list, the last one for ever."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self._answers = list(answers)

    def describe_data_repository_tasks(self, **_: Any) -> dict[str, Any]:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        found: dict[str, Any] = answer
        return found


def run(
    fsx: FalseFsx,
    told: list[str] | None = None,
    sleep: Callable[[float], None] = lambda _: None,
) -> None:
    client: Any = fsx
    tell = print if told is None else told.append
    Tasks(client, ID, tell, sleep=sleep).run("EXPORT_TO_REPOSITORY", "data")


@pytest.mark.parametrize(
    "passing",
    [
        {},
        {"DataRepositoryTasks": []},
        refused("DataRepositoryTaskNotFound"),
        refused("ThrottlingException"),
        refused("InternalServerError", 500),
        EndpointConnectionError(endpoint_url="https://fsx.eu-west-1.amazonaws.com"),
    ],
)
def test_what_passes_by_itself_does_not_end_the_wait(passing: Any) -> None:
    fsx = Answers(passing, EXECUTING, passing, SUCCEEDED)
    run(fsx)
    assert len(fsx.created) == 1


@pytest.mark.parametrize("answer", [{}, refused("ThrottlingException")])
def test_an_fsx_that_stays_silent_is_an_error_that_says_how_to_go_on(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lustre_task, "SILENT_S", -1.0)
    told: list[str] = []
    with pytest.raises(AwsError, match="DescribeDataRepositoryTasks"):
        run(Answers(answer), told)
    assert "task task-1 (EXPORT_TO_REPOSITORY) goes on in FSx" in told[-1]
    assert "cancel-data-repository-task --task-id task-1" in told[-1]


def test_a_refusal_that_stays_is_told_at_once() -> None:
    with pytest.raises(AwsError, match="AccessDeniedException"):
        run(Answers(refused("AccessDeniedException"), SUCCEEDED))


def test_files_that_failed_are_an_error_whatever_the_state_says() -> None:
    task = {"Lifecycle": "SUCCEEDED", "Status": {"TotalCount": 3, "FailedCount": 1}}
    with pytest.raises(JobFailed, match=r"of data: succeeded \(3 total, 1 failed\)"):
        run(Answers({"DataRepositoryTasks": [task]}))


def test_a_task_that_somebody_ended_says_so() -> None:
    fsx = Answers(EXECUTING, {"DataRepositoryTasks": [{"Lifecycle": "CANCELED"}]})
    with pytest.raises(JobFailed, match="canceled; somebody ended it: run again"):
        run(fsx)


@pytest.mark.parametrize("task", [{"EndTime": 1}, {"EndTime": 1, "Lifecycle": "EXPIRED"}])
def test_an_end_in_a_state_that_is_not_known_is_no_success(task: dict[str, Any]) -> None:
    with pytest.raises(JobFailed, match=r"expired|in no state"):
        run(Answers({"DataRepositoryTasks": [task]}))


def test_a_state_that_is_not_known_is_waited_for_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(Answers(STRANGE, SUCCEEDED))
    monkeypatch.setattr(lustre_task, "STRANGE_S", -1.0)
    with pytest.raises(JobFailed, match=r"has been PAUSED for .* minutes"):
        run(Answers(STRANGE))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_the_wait_is_told_that_the_task_goes_on_and_how_to_end_it(
    number: signal.Signals,
) -> None:
    def press(_: float) -> None:
        signal.raise_signal(number)

    with pytest.raises(Interrupted, match=r"goes on in FSx\. .* --task-id task-1"):
        run(Answers(EXECUTING), sleep=press)


def test_an_answer_without_a_task_is_an_error() -> None:
    class Nameless(FalseFsx):
        def create_data_repository_task(self, **_: Any) -> dict[str, Any]:
            return {}

    with pytest.raises(AwsError, match="the answer names no task"):
        run(Nameless())


def test_a_task_of_others_that_never_ends_is_an_error_that_says_how_to_find_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lustre_task, "BUSY_S", -1.0)
    fsx = FalseFsx(refusals=["DataRepositoryTaskExecuting"])
    with pytest.raises(JobFailed, match=r"another task .* describe-data-repository-tasks"):
        tasks_of(fsx).run("EXPORT_TO_REPOSITORY", "data")
    assert fsx.created == []
