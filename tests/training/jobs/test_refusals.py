"""What a user is told where AWS refuses: one message, and exit code 4."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.sagemaker_server import (
    EXPIRED,
    THROTTLED,
    Fault,
    Refusal,
    Server,
    serving,
)
from tests.training.pretender import environ
from training.cli import run
from training.jobs.__main__ import app
from training.platforms.sagemaker import control

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def command(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Return what runs a command and returns its exit code and stderr."""
    for name, value in environ(server.endpoint).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(control, "Timer", lambda: Clockwork().timer)

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["jobs", *arguments])
        with pytest.raises(SystemExit) as left:
            run(app)
        shown = capsys.readouterr()
        assert shown.out == ""
        return int(str(left.value)), shown.err

    return call


CASES: dict[str, tuple[Fault | Refusal, str]] = {
    "expired": (EXPIRED, "The credentials have expired: log in again (aws sso login)"),
    "no permission": (Refusal("AccessDeniedException"), "(sagemaker:DescribeTrainingJob)"),
    "throttled": (THROTTLED, "AWS asks for fewer requests: wait a minute"),
    "a gateway": (Fault.GATEWAY, "was answered (HTTP 502, text/html), but not as AWS does"),
    "no answer": (Fault.LOST_BEFORE, "no local AWS answers. Start it"),
    "a fault": (Refusal("InternalFailure", "Oops.", 500), "DescribeTrainingJob: Oops."),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("arguments", [("status",), ("logs", "-f")])
def test_a_refusal_is_one_message(
    server: Server, command: Command, case: str, arguments: tuple[str, ...]
) -> None:
    server.always["DescribeTrainingJob"], said = CASES[case]
    code, stderr = command(*arguments, "job-1")
    assert code == 4
    *before, error = stderr.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert all(line.startswith("no good answer, trying again: ") for line in before)
    # Nothing but looks was sent.
    assert {name for name, _ in server.asked} == {"DescribeTrainingJob"}
