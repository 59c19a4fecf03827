"""Writes a request for people: like YAML, with short things on one line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

INDENT = "  "


def to_lines(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a request as plain JSON values, each with its indentation."""
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            yield f"{key}:"
            yield from _indented(to_lines(item))
        elif isinstance(item, list | tuple) and any(map(_is_nested, item)):
            yield f"{key}:"
            for part in item:
                yield from _item(part)
        else:
            yield f"{key}: {_in_line(item)}"


def _item(value: Any) -> Iterator[str]:
    """Yield the lines of one item of a list, of which the first has a dash."""
    if not isinstance(value, Mapping) or not any(map(_is_nested, value.values())):
        yield f"- {_in_line(value)}"
        return
    for number, line in enumerate(to_lines(value)):
        yield f"- {line}" if number == 0 else f"{INDENT}{line}"


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_in_line(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return shlex.join(_in_line(item) for item in value) or "none"
    if value is None:
        return "none"
    text = str(value)
    # What would move the cursor, or end the line, is shown as JSON has it.
    return text if text.isprintable() else json.dumps(text)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield INDENT + line
