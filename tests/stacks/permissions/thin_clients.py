"""Which functions of the thin clients are used: one module has those of all commands.

`training/aws/clients.py` has a property for each thin client, called as its module is. Who holds
one calls it so, too: `clients.efs.policy(...)`, `self._efs.policy(...)`, `efs.policy(...)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

Trees = Mapping[Path, ast.Module]
Function = ast.FunctionDef | ast.AsyncFunctionDef

FOLDER, MAKER = "aws", "clients"
"""Where thin clients are, and the module that makes them."""


def used_calls(trees: Trees) -> dict[Path, list[ast.Call]]:
    """Return the calls in modules; of thin clients, those in functions that somebody uses."""
    thin = {name for path, tree in trees.items() if _is_maker(path) for name in _imported(tree)}
    used = {name for tree in trees.values() for name in _uses(tree, thin)}
    return {
        path: [
            node
            for part in (_parts(path, tree, used) if _is_thin(path, thin) else [tree])
            for node in ast.walk(part)
            if isinstance(node, ast.Call)
        ]
        for path, tree in trees.items()
    }


def _is_maker(path: Path) -> bool:
    return path.parent.name == FOLDER and path.stem == MAKER


def _is_thin(path: Path, thin: set[str]) -> bool:
    return path.parent.name == FOLDER and path.stem in thin


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules whose classes the maker imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            folder, _, name = node.module.rpartition(".")
            if folder.endswith(f".{FOLDER}") and any(each.name[0].isupper() for each in node.names):
                yield name


def _uses(tree: ast.Module, thin: set[str]) -> Iterator[tuple[str, str]]:
    """Yield module and function of what a module uses of thin clients."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            holder = ast.unparse(node.value).rpartition(".")[2].lstrip("_")
            if holder in thin:
                yield holder, node.attr
        elif isinstance(node, ast.ImportFrom) and node.module:
            name = node.module.rpartition(".")[2]
            if name in thin:
                yield from ((name, each.name) for each in node.names)


def _parts(path: Path, tree: ast.Module, used: set[tuple[str, str]]) -> list[Function]:
    """Return the functions of a thin client that are used, and those that they use in turn."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    waiting = [name for module, name in used if module == path.stem and name in functions]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [each for each in _names(functions[name]) if each in functions]
    return [functions[name] for name in sorted(found)]


def _names(function: Function) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
