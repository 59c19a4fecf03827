"""The user's own folders, as the XDG specification has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def base_folder(environ: Mapping[str, str], variable: str) -> Path | None:
    """Return what a variable such as XDG_CACHE_HOME names; None where it names no place.

    A relative path is to be ignored: it would be another folder in each working directory.
    https://specifications.freedesktop.org/basedir-spec/latest/
    """
    folder = Path(environ.get(variable, ""))
    return folder if folder.is_absolute() else None


def cache_folder(environ: Mapping[str, str], what: str) -> Path:
    """Return the folder of what this project keeps between commands; it need not be there."""
    home = Path(environ.get("HOME") or "/")
    caches = base_folder(environ, "XDG_CACHE_HOME") or home / ".cache"
    return caches / "distributed-mask-rcnn" / what
