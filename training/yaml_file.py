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


def read_yaml(text: str, *, source: str) -> Any:
    """Return the value that a YAML text spells.

    Args:
        text: One document.
        source: Where it is from, for the message.

    Raises:
        UsageError: It is not YAML, has a key twice, or is nested too deeply.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a safe loader)
    except yaml.YAMLError as error:
        raise UsageError(f"{source}: not YAML: {' '.join(str(error).split())}") from error
    except ValueError as error:
        # A date such as 2026-02-30, or an integer with more digits than Python reads.
        raise UsageError(f"{source}: a value cannot be read: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{source}: nested too deeply") from error
