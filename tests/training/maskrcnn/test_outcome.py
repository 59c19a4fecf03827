from __future__ import annotations

import json
import os
from pathlib import Path

import psutil

from training.maskrcnn.outcome import write_outcome


def status(path: Path) -> tuple[str, str]:
    document = json.loads(path.read_text())
    return document["status"], document["message"]


def test_the_first_failure_of_a_run_stays(tmp_path: Path) -> None:
    path = tmp_path / "outcome.json"
    write_outcome(path, "failed", step=3, message="the cause")
    write_outcome(path, "failed", step=3, message="another rank is gone")
    assert status(path) == ("failed", "the cause")


def test_the_outcome_of_an_earlier_run_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "outcome.json"
    write_outcome(path, "checkpointed", step=3, message="asked to stop")
    before = psutil.Process().create_time() - 10
    os.utime(path, (before, before))
    write_outcome(path, "failed", step=4, message="the cause")
    assert status(path) == ("failed", "the cause")
