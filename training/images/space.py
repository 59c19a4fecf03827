"""Whether there is room for a build, where its engine keeps layers and unpacks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from training.container_engine import Engine
from training.errors import PreflightError

_GIB = 1024**3


def require(engine: Engine, needs_gib: int) -> None:
    """Check the free space before a build of many minutes fills a disk.

    Raises:
        PreflightError: There is too little; the message has path, have and need.
    """
    short = {
        str(path): free
        for path in (engine.storage(), temporary(engine))
        if (free := shutil.disk_usage(existing(path)).free) < needs_gib * _GIB
    }
    if short:
        lines = [
            f"{path}: {free / _GIB:.1f} GiB free, {needs_gib} GiB needed to build the image"
            for path, free in short.items()
        ]
        lines.append(
            f"Free some ({how_to_free(engine)}), or move {engine.name}'s storage to a larger disk."
        )
        raise PreflightError("\n".join(lines))


def how_to_free(engine: Engine) -> str:
    """Return the command that removes what nobody uses."""
    return "buildah rmi --prune" if engine.name == "buildah" else f"{engine.name} system prune"


def temporary(engine: Engine) -> Path:
    """Return where layers are written before they are stored; docker's daemon does it inside."""
    if engine.name == "docker":
        return engine.storage()
    return Path(os.environ.get("TMPDIR") or "/var/tmp")  # noqa: S108  buildah's own default


def existing(path: Path) -> Path:
    """Return the path or its nearest parent that is there and can be looked at."""
    for candidate in (path, *path.parents):
        try:
            if candidate.exists():
                return candidate
        except PermissionError:
            continue
    return Path("/")
