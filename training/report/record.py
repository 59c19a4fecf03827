"""Reads a log channel, whatever of it is there: a job may have died before it wrote anything."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.layout import LogChannel
from training.report.metrics import Metrics, read_metrics
from training.report.printed import read_printed
from training.report.tensorpack import find_attempts, read_statistics

TAIL_LINES = 25
TAIL_RANKS = 16
LAUNCHER_LOG = "launcher.log"
"""What came from no rank (docker/entrypoint/output.py), in the log channel."""
TENSORPACK_LOG = "log.log"
"""Of each of its starts (tensorpack/utils/logger.py)."""
_LINE_CHARACTERS = 400
_TAIL_BYTES = 64 * 1024

# A terminal's colours and cursor moves, which a browser would show as rubbish.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Outcome:
    """What outcome.json says."""

    status: str
    step: int | None
    message: str


@dataclass(frozen=True)
class RankLog:
    """The last lines that a rank printed."""

    rank: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """What is known of a job."""

    job: Mapping[str, Any]
    hyperparameters: Mapping[str, Any]
    metrics: Metrics
    outcome: Outcome | None
    rank_logs: tuple[RankLog, ...]
    ranks: int
    """How many rank logs there are; `rank_logs` has the first ones."""
    problems: tuple[str, ...]
    """Files that are there and cannot be read, in words."""


def read_record(log: LogChannel) -> Record:
    """Read everything that a log channel holds, except predictions."""
    problems: list[str] = []
    paths = rank_paths(log)
    job = _read_object(log.job, problems)
    return Record(
        job=job,
        hyperparameters=_read_object(log.hyperparameters, problems),
        metrics=_metrics(log, str(job.get("algorithm"))),
        outcome=_outcome(_read_object(log.outcome, problems)),
        rank_logs=tuple(
            RankLog(rank, _tail(path)) for rank, path in list(paths.items())[:TAIL_RANKS]
        ),
        ranks=len(paths),
        problems=tuple(problems),
    )


def _metrics(log: LogChannel, algorithm: str) -> Metrics:
    """Return a job's figures: from our trainer's file, from TensorPack's, or as they were printed.

    TensorPack's own file comes first: it has more figures than what was printed, and all starts.
    """
    if log.metrics.exists():
        return read_metrics(log.metrics)
    attempts = find_attempts(log.root)
    found = read_statistics(attempts)
    if found.last_step is not None:
        return found
    printed = [log.rank(0), log.root / LAUNCHER_LOG]
    printed += [attempt / TENSORPACK_LOG for attempt in reversed(attempts)]
    return read_printed(printed, algorithm)


def read_job(log: LogChannel) -> Mapping[str, Any]:
    """Return the record of the job itself, empty where it is not there."""
    return _read_object(log.job, [])


def rank_paths(log: LogChannel) -> dict[int, Path]:
    """Return the rank logs that are there, by rank."""
    ranks = (
        (match[1], path)
        for path in log.root.glob("rank-*.log")
        if (match := re.fullmatch(r"rank-(\d+)\.log", path.name))
    )
    return dict(sorted((int(rank), path) for rank, path in ranks))


def _read_object(path: Path, problems: list[str]) -> dict[str, Any]:
    """Return a JSON file's object, an empty one where there is no such file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        problems.append(f"{path.name} cannot be read ({error.strerror}).")
        return {}
    except (ValueError, RecursionError):
        problems.append(f"{path.name} is not whole: it is not JSON.")
        return {}
    if not isinstance(document, dict):
        problems.append(f"{path.name} holds no object.")
        return {}
    return document


def _outcome(document: Mapping[str, Any]) -> Outcome | None:
    if "status" not in document:
        return None
    step = document.get("step")
    return Outcome(
        status=str(document["status"]),
        step=step if isinstance(step, int) else None,
        message=str(document.get("message") or ""),
    )


def _tail(path: Path) -> tuple[str, ...]:
    """Return a log's last lines, reading no more than its end."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError as error:
        return (f"({path.name} cannot be read: {error.strerror})",)
    # Progress bars rewrite a line by carriage returns: the last version is the one to show.
    lines = (line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n"))
    clean = (_ESCAPES.sub("", line).rstrip() for line in lines)
    return tuple(
        line if len(line) <= _LINE_CHARACTERS else line[:_LINE_CHARACTERS] + " …"
        for line in deque((line for line in clean if line), maxlen=TAIL_LINES)
    )
