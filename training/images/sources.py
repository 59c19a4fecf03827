"""The files of an image: found by one rule, for the tag and for the build alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).resolve().parents[2]

_MADE_FOLDERS = frozenset({"__pycache__"})
_MADE_SUFFIXES = frozenset({".pyc", ".tmp"})


def find_sources(project: Path, sources: Sequence[str]) -> dict[str, Path]:
    """Return path in the project -> file, in order of the paths.

    What Python leaves behind and hidden files are not among them, so that they are the same in
    each clone. A source that is not there is left out: a build that needs it says so.
    """
    found: dict[str, Path] = {}
    for source in sources:
        path = project / source
        files = [path] if path.is_file() else _files_below(path)
        found |= {str(PurePosixPath(file.relative_to(project))): file for file in files}
    return dict(sorted(found.items()))


def _files_below(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if entry.name not in _MADE_FOLDERS:
                yield from _files_below(entry)
        elif entry.suffix not in _MADE_SUFFIXES:
            yield entry
