"""A run elsewhere from its start to its end, as the commands see it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.data.on.samples import errand, outputs, stage_request
from training.data.commands import stage as command
from training.data.commands.elsewhere import refuse_here
from training.data.on import run as running
from training.data.on import sagemaker
from training.data.on.answer import MARK
from training.data.on.elsewhere import Elsewhere, On
from training.data.on.errand import of_stage
from training.data.on.run import Planned
from training.errors import PreflightError, UsageError

Show = Callable[[str], None]


class Runner:
    """A place where a run does as the test says."""

    READS = sagemaker.READS

    def __init__(self, sends: Callable[[Show], None]) -> None:
        self._sends = sends

    def __getattr__(self, name: str) -> Any:
        return getattr(sagemaker, name)

    def send(self, _trip: Any, _outputs: Any, show: Show) -> None:
        self._sends(show)


def planned(sends: Callable[[Show], None]) -> Planned:
    trip = sagemaker.plan(errand(), outputs())
    return Planned(Runner(sends), errand(), outputs(), trip)


def test_sigterm_while_it_starts_is_as_ctrl_c() -> None:
    """What starts it says then what there may be, and how to look."""
    with pytest.raises(KeyboardInterrupt):
        running.run(
            planned(lambda _: os.kill(os.getpid(), signal.SIGTERM)), lambda _: None, lambda _: None
        )


def test_what_it_costs_is_told_before_it_starts() -> None:
    told: list[str] = []
    before: list[str] = []
    running.run(planned(lambda _: before.extend(told)), lambda _: None, told.append)
    assert len(before) == 1
    # A price that is not known is told as such, and never as nothing.
    what = "training job stage-one on one ml.c5.4xlarge. Cost: unknown (no price of ml.c5.4xlarge"
    assert before[0].startswith(what)


def test_a_copy_that_failed_after_its_result_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def sends(show: Show) -> None:
        show(MARK + json.dumps({"source": "s3://b/a"}))
        raise PreflightError("no room")

    monkeypatch.setattr(running, "plan", lambda *_: planned(sends))
    monkeypatch.setattr(running, "check", lambda *_, **__: None)
    elsewhere = Elsewhere(on=On.SAGEMAKER)
    with pytest.raises(PreflightError, match="no room"):
        command._run(
            stage_request(), elsewhere, None, dry_run=False, output_format=command.Format.TEXT
        )


def test_an_empty_name_is_no_name_and_not_the_default(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs().stacks))
    elsewhere = Elsewhere(on=On.SAGEMAKER, name="", outputs_file=file)
    with pytest.raises(UsageError, match="--name : expected 1 to 52"):
        running.plan(elsewhere, of_stage(stage_request()))


def test_a_limit_that_nobody_would_keep_is_refused() -> None:
    refuse_here(Elsewhere(on=On.HERE), dry_run=False)
    with pytest.raises(UsageError, match="--max-run-s: is for a run elsewhere"):
        refuse_here(Elsewhere(on=On.HERE, max_run_s=60), dry_run=False)
