"""The oldest of the images has Python 3.6: its syntax, and nothing newer of the library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.adapters.loading import DOCKER, FOLDERS

SHARED = ("adapter_error", "values", "tf_checkpoints", "tensorpack_family")
FILES = [
    *(DOCKER / folder / "adapter.py" for folder in FOLDERS),
    *(DOCKER / "entrypoint" / f"{name}.py" for name in SHARED),
]
LIBRARY = {"ast", "glob", "json", "os", "re", "typing"}
"""What these files need; all of it is in Python 3.6."""

NEWER = {
    "removeprefix",  # 3.9
    "removesuffix",
    "isascii",  # 3.7
    "fromisoformat",
    "capture_output",
    "prod",  # 3.8
    "cached_property",
    "get_args",
    "Literal",
    "Protocol",
    "TypedDict",
    "Final",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DOCKER)))
def test_the_syntax_is_that_of_python_3_6(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 6))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DOCKER)))
def test_only_the_standard_library_of_python_3_6_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert set(_imports(tree)) <= LIBRARY | {"entrypoint", ""}
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not used & NEWER


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else (node.module or "").partition(".")[0]
