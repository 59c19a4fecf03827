"""The log folder: new for a new job, the same job's for one that goes on, and writable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.layout import LogChannel
from training.preflight.finding import Finding


def find(
    log: LogChannel,
    hyperparameters: Mapping[str, Any],
    *,
    defaults: Mapping[str, Any],
    resume: bool,
) -> Iterator[Finding]:
    """Yield what stands against writing to a job's log folder.

    Args:
        log: The folder, there or not.
        hyperparameters: What the job would train with, as plain JSON values.
        defaults: The same of a job that sets none, for those that came after the job began.
        resume: The job goes on where one of the same name stopped.
    """
    # os.path, since pathlib raises where a parent may not be read.
    if os.path.lexists(log.root):
        yield from _find_in_existing(log, hyperparameters, defaults, resume)
        return
    if resume:
        yield Finding(
            "resume-nothing",
            "error",
            f"{log.root} is not there, so there is no job of this name to go on with; check "
            "--name, or leave --resume out to start it",
            str(log.root),
        )
    parent = _nearest_folder(log.root)
    if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
        yield Finding(
            "log-not-writable",
            "error",
            f"{log.root} cannot be made: {parent} is not a folder that this user may write to; "
            "choose another one with channels.log or local.root",
            str(log.root),
        )


def _find_in_existing(
    log: LogChannel, hyperparameters: Mapping[str, Any], defaults: Mapping[str, Any], resume: bool
) -> Iterator[Finding]:
    if not resume:
        yield Finding(
            "log-exists",
            "error",
            f"{log.root} is there already, from a job of this name; give another --name, or add "
            "--resume to go on from its last checkpoint",
            str(log.root),
        )
    elif not log.root.is_dir() or not os.access(log.root, os.W_OK | os.X_OK):
        yield Finding(
            "log-not-writable",
            "error",
            f"{log.root} is not a folder that this user may write to",
            str(log.root),
        )
    else:
        yield from _find_changed(log, hyperparameters, defaults)


def _find_changed(
    log: LogChannel, hyperparameters: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[Finding]:
    """A job that goes on with other hyperparameters is another job."""
    try:
        record = json.loads(log.hyperparameters.read_text(encoding="utf-8"))
        before = {**defaults, **record}
    except FileNotFoundError:
        return
    except (OSError, RecursionError, TypeError, ValueError) as error:
        yield Finding(
            "log-unreadable",
            "error",
            f"{log.hyperparameters} cannot be read ({error}); start the job under another --name",
            str(log.hyperparameters),
        )
        return
    keys = sorted(before.keys() | hyperparameters.keys())
    changed = [key for key in keys if before.get(key) != hyperparameters.get(key)]
    if changed:
        changes = ", ".join(f"{k} {before.get(k)!r} to {hyperparameters.get(k)!r}" for k in changed)
        yield Finding(
            "resume-changes-hyperparameters",
            "error",
            f"the job in {log.root} cannot go on with other hyperparameters ({changes}); "
            "set them as they were, or start a new job under another --name",
            str(log.hyperparameters),
        )


def _nearest_folder(path: Path) -> Path:
    """Return the nearest parent that exists."""
    return next(parent for parent in path.parents if os.path.lexists(parent))
