"""`look`: which logs there are, and the ones to show."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from training.told import Told
from training.viewing.found import JobLog, find_logs
from training.viewing.view import View, say

LISTED = 10


def look(folder: str | Path) -> View:
    """Print which jobs have left logs in a folder or below it, and return the first's.

    The first is the one with the newest checkpoint.

    Raises:
        Told: There is no such folder, or there are none.
    """
    root = Path(folder)
    if not root.is_dir():
        raise Told(f"{root}: no such folder; it is global.log_dir of the chart's values")
    logs = find_logs(root)
    if not logs:
        raise Told(f"{root}: no job has written there yet")
    for mark, log in zip(">" + " " * (LISTED - 1), logs, strict=False):
        say(f"{mark} {log.folder}: {_describe(log)}")
    if len(logs) > LISTED:
        say(f"  and {len(logs) - LISTED} more")
    return View(logs[0])


def _describe(log: JobLog) -> str:
    whose = "TensorPack" if log.is_of_tensorpack else "our trainer"
    if log.saved_s is None:
        return f"{whose}, no checkpoint yet"
    moment = datetime.fromtimestamp(log.saved_s, UTC)
    return f"{whose}, newest checkpoint of {moment:%Y-%m-%d %H:%M:%S} UTC"
