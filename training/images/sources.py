"""The files of an image: found by one rule, for the tag and for the build alike."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

_MADE_FOLDERS = frozenset({"__pycache__"})
_MADE_SUFFIXES = (".pyc", ".tmp")


def find_sources(project: Path, sources: Sequence[str]) -> dict[str, Path]:
    """Return path in the project -> file, in order of the paths.

    What Python leaves behind and hidden files are not among them, so that they are the same in
    each clone. A source that is not there is left out: a build that needs it says so.
    """
    found: dict[str, Path] = {}
    for source in sources:
        path = project / source
        files = [source] if path.is_file() else _files_below(project, source)
        found |= {file: project / file for file in files}
    return dict(sorted(found.items()))


def _files_below(project: Path, folder: str) -> Iterator[str]:
    # Texts, and what the system tells of a whole folder: each launch looks at hundreds of files.
    if not (project / folder).is_dir():
        return
    with os.scandir(project / folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                if entry.name not in _MADE_FOLDERS:
                    yield from _files_below(project, f"{folder}/{entry.name}")
            elif not entry.name.endswith(_MADE_SUFFIXES):
                yield f"{folder}/{entry.name}"
