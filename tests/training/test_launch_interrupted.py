"""Ctrl-C and SIGTERM end a launch with what is there, in each of its phases."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from tests.training.platforms.sagemaker.planning import STACKS
from training import launch
from training.cli import run
from training.job_options import JobOptions
from training.platforms.sagemaker import platform
from training.platforms.watching import watching

Launch = Callable[..., tuple[int, str]]


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def terminate(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture
def launched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Launch:
    """Launch a job that no check finds fault with; return exit code and the last line on stderr."""
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(STACKS))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(launch, "_all_findings", lambda *_, **__: [])

    def call(*arguments: str) -> tuple[int, str]:
        options = ("--platform", "sagemaker", "--name", "job-1", "--outputs-file", str(file))
        monkeypatch.setattr("sys.argv", ["launch", *options, *arguments])
        with pytest.raises(SystemExit) as ended:
            run(launch.app)
        assert isinstance(ended.value.code, int)
        return ended.value.code, capsys.readouterr().err.splitlines()[-1]

    return call


@pytest.mark.parametrize("stop", [interrupt, terminate])
@pytest.mark.parametrize("phase", ["plan", "findings", "confirm"])
def test_before_anything_is_sent_nothing_was_started(
    launched: Launch, monkeypatch: pytest.MonkeyPatch, stop: Callable[..., None], phase: str
) -> None:
    place, name = {
        "plan": (JobOptions, "plan"),
        "findings": (launch, "_all_findings"),
        "confirm": (launch, "_confirm"),
    }[phase]
    monkeypatch.setattr(place, name, stop)
    before = signal.getsignal(signal.SIGTERM)
    assert launched("--yes") == (130, "stopped: nothing was started")
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("stop", [interrupt, terminate])
def test_where_the_platform_cannot_tell_whether_a_job_was_sent_the_way_to_look_is_told(
    launched: Launch, monkeypatch: pytest.MonkeyPatch, stop: Callable[..., None]
) -> None:
    monkeypatch.setattr(platform, "submit", stop)
    assert launched("--yes") == (
        130,
        "stopped: it is not known whether job-1 was started. Before you launch it again, look: "
        "python -m training.jobs status job-1 --platform sagemaker",
    )


@pytest.mark.parametrize("stop", [interrupt, terminate])
def test_a_job_that_is_watched_goes_on(
    launched: Launch, monkeypatch: pytest.MonkeyPatch, stop: Callable[..., None]
) -> None:
    def submit(*_: Any, **__: Any) -> None:
        with watching("job-1", follow="FOLLOW", stop="STOP"):
            stop()

    monkeypatch.setattr(platform, "submit", submit)
    assert launched("--yes", "--wait") == (
        130,
        "stopped: watching; job-1 goes on. Watch it again: FOLLOW; end it: STOP",
    )


def test_whoever_leaves_the_question_is_told_below_it(
    launched: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(question: str, *, err: bool) -> bool:
        sys.stderr.write(f"{question} [y/N]: ^C")
        raise typer.Abort

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(typer, "confirm", leave)
    assert launched() == (130, "stopped: nothing was started")
