"""Which modules a command reaches, by what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[3]

ON_THE_NOTEBOOK = (
    "training.launch",
    "training.data",
    "training.images",
    "training.jobs",
    "training.preflight",
    "training.prices",
    # These are imported by their names.
    "training.algorithms",
    "training.platforms",
)
"""Packages and modules whose commands are for the notebook; some may not be there yet."""

ELSEWHERE = ("training.preflight.stacks",)
"""`preflight --stacks` runs where the stacks are deployed from, before there is a notebook."""


def files_of(
    roots: Iterable[str] = ON_THE_NOTEBOOK,
    *,
    without: Iterable[str] = ELSEWHERE,
    project: Path = PROJECT,
) -> set[Path]:
    """Return the files of all modules that these reach, imports within functions too."""
    waiting = [module for root in roots for module in _with_submodules(root, project)]
    files: set[Path] = set()
    while waiting:
        module = waiting.pop()
        path = _path(module, project)
        if path is None or path in files or _is_in(module, without):
            continue
        files.add(path)
        waiting += _imported(path)
    return files


def _with_submodules(package: str, project: Path) -> Iterator[str]:
    yield package
    for path in (project / package.replace(".", "/")).rglob("*.py"):
        yield ".".join(path.relative_to(project).with_suffix("").parts)


def _is_in(module: str, packages: Iterable[str]) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in packages)


def _path(module: str, project: Path) -> Path | None:
    base = project / module.replace(".", "/")
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def _imported(path: Path) -> Iterator[str]:
    """Yield what may be modules: `from a import b` gives a and a.b."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
