"""Finds the logs of jobs below a folder, the one with the newest checkpoint first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from training.layout import LogChannel
from training.report.tensorpack import TENSORFLOW, find_attempts

DEPTH = 3
"""Levels of folders below the given one that are looked into."""


@dataclass(frozen=True)
class JobLog:
    """What one job has left."""

    folder: Path
    checkpoints: tuple[Path, ...]
    """Of our trainer, the newest first; model.pt is the last."""
    attempts: tuple[Path, ...]
    """Folders of TensorPack's starts, in their order; none of our trainer."""
    saved_s: float | None
    """When the newest checkpoint was saved, in seconds since 1970; None: there is none."""
    changed_s: float
    """When anything of it was written last."""

    @property
    def channel(self) -> LogChannel:
        return LogChannel(self.folder)

    @property
    def is_of_tensorpack(self) -> bool:
        """Whether TensorPack's Mask R-CNN, or AWS's variant of it, has written it."""
        return bool(self.attempts)


def find_logs(root: Path) -> list[JobLog]:
    """Return the logs in a folder and below it, those with the newest checkpoints first."""
    return sorted(_find(root, DEPTH), key=_age, reverse=True)


def _age(log: JobLog) -> tuple[bool, float, float]:
    return log.saved_s is not None, log.saved_s or 0.0, log.changed_s


def _find(folder: Path, depth: int) -> Iterator[JobLog]:
    log = _read(folder)
    if log is not None:
        yield log
    elif depth:
        for below in _folders(folder):
            yield from _find(below, depth - 1)


def _folders(folder: Path) -> list[Path]:
    """Return what is in a folder; links are not followed, since they may lead in circles."""
    # Of each entry the file system has told whether it is a folder: a data set has 118,000 files.
    return sorted(
        Path(entry.path)
        for entry in _entries(folder)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
    )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing where there is none, or it may not be looked at."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _read(folder: Path) -> JobLog | None:
    channel = LogChannel(folder)
    attempts = find_attempts(folder)
    ours = [*sorted(channel.checkpoints.glob("step-*.pt"), reverse=True)]
    ours += [path for path in (channel.model,) if path.is_file()]
    files = (channel.job, channel.metrics, channel.outcome)
    written = [*ours, *(path for path in files if path.is_file())]
    written += [Path(entry.path) for attempt in attempts for entry in _entries(attempt)]
    if not written:
        return None
    saved = [*ours, *(path for attempt in attempts for path in attempt.glob(TENSORFLOW))]
    return JobLog(folder, tuple(ours), attempts, _newest(saved), _newest(written) or 0.0)


def _newest(paths: Iterable[Path]) -> float | None:
    """Return when the newest file was written; a running job removes old ones meanwhile."""
    times = []
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)
