"""Reads YAML and nothing that YAML lets pass silently: a key that is there twice."""

from __future__ import annotations

from typing import Any

import yaml

from training.errors import UsageError


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, in which a second key of the same name is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is a word, and here is a list or a map", key_node.start_mark
                )
            # "<<" merges another mapping, and may stand there more than once.
            if key_node.tag != "tag:yaml.org,2002:merge" and key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} is there twice", key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


MOST_VALUES = 100_000
"""In a document, with all that its aliases stand for: a few lines can spell billions."""


def read_yaml(text: str, *, source: str) -> Any:
    """Return the value that a YAML text spells.

    Args:
        text: One document.
        source: Where it is from, for the message.

    Raises:
        UsageError: It is not YAML, has a key twice, or is nested too deeply; or an alias makes a
            value hold itself, or more values than anybody could read.
    """
    try:
        return _read(text)
    except _Unreadable as error:
        raise UsageError(f"{source}: {error}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{source}: not YAML: {' '.join(str(error).split())}") from error
    except ValueError as error:
        # A date such as 2026-02-30, or an integer with more digits than Python reads.
        raise UsageError(f"{source}: a value cannot be read: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{source}: nested too deeply") from error


class _Unreadable(Exception):
    """What it is, in words."""


def _read(text: str) -> Any:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _count(node, {}) > MOST_VALUES:
            raise _Unreadable(f"its aliases (*NAME) spell more than {MOST_VALUES:,} values")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _count(node: yaml.Node, counted: dict[yaml.Node, int | None]) -> int:
    """Return how many values a node has, each as often as it is named.

    Args:
        counted: Nodes that are done; None for those around this one.
    """
    if node in counted:
        count = counted[node]
        if count is None:
            raise _Unreadable(f"line {node.start_mark.line + 1}: a value that holds itself")
        return count
    counted[node] = None
    count = counted[node] = 1 + sum(_count(each, counted) for each in _parts(node))
    return count


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []
