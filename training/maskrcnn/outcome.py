"""outcome.json: how the trainer ended, for the launcher and the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import psutil

from training.maskrcnn.files import write_atomically

Status = Literal["completed", "checkpointed", "failed"]


def write_outcome(path: Path, status: Status, *, step: int, message: str) -> None:
    """Write how the job ended.

    A failure that another rank wrote stays: the first to fail knows the cause, the others only
    see that it is gone.
    """
    if status == "failed" and _is_of_this_run(path):
        return
    document = {"status": status, "step": step, "message": message}
    write_atomically(path, json.dumps(document, indent=2).encode() + b"\n")


def _is_of_this_run(path: Path) -> bool:
    """Tell an outcome of this run from one that an earlier run left: ranks start together."""
    return path.exists() and path.stat().st_mtime >= psutil.Process().create_time()
