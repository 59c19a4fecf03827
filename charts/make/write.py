"""Spells values as YAML and as JSON Schema."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from .key import Group, Key, Schema

_WIDTH = 100
MARK = "Written by `python -m charts.make`; change it there."


def values_yaml(title: str, groups: Sequence[Group]) -> str:
    """Return values.yaml, each key below what it is for."""
    lines = [f"# {title}.", f"# {MARK}"]
    for group in groups:
        lines.append("")
        if group.name:
            lines += [*_comment(group.about, ""), f"{group.name}:"]
        indent = "  " if group.name else ""
        for key in group.keys:
            if key.written:
                lines += [*_comment(key.about, indent), *_spelled(key, indent)]
    return "\n".join(lines) + "\n"


def values_schema(title: str, groups: Sequence[Group]) -> str:
    """Return values.schema.json: every key is known, described and checked."""
    # What Helm itself adds for the library and for charts in charts.
    properties: dict[str, Schema] = {"library": {"type": "object"}}
    needed: list[str] = []
    judged: Schema = {each.judged: {} for each in groups if each.judged and not each.name}
    for group in groups:
        keys = [key.name for key in group.keys if key.is_needed]
        rules = {key.name: {"description": key.about, **key.rule} for key in group.keys}
        gone = {
            name: {"description": f"No key any more: {instead}.", "deprecated": True}
            for name, instead in group.gone.items()
        }
        if not group.name:
            properties.update({**rules, **gone})
            needed += keys
            continue
        needed.append(group.name)
        properties[group.name] = {
            "description": group.about,
            "type": "object",
            "additionalProperties": False,
            **({"required": keys} if keys else {}),
            "properties": {**rules, **gone},
        }
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": MARK,
        "title": title,
        "type": "object",
        "additionalProperties": False,
        **({"patternProperties": judged} if judged else {}),
        "required": needed,
        "properties": properties,
    }
    return json.dumps(schema, indent=2) + "\n"


def named_template(name: str, about: str, document: Any) -> str:
    """Return a template that is a JSON document."""
    comment = f"{{{{- /* {about} {MARK} */ -}}}}"
    return f'{comment}\n{{{{- define "{name}" -}}}}\n{_compact(document)}\n{{{{- end -}}}}\n'


def _compact(document: dict[str, dict[str, Any]]) -> str:
    """Return JSON with a line for each entry of each table, which reviews can read."""
    tables = []
    for table, entries in document.items():
        rows = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items())
        tables.append(f"{json.dumps(table)}: {{\n{rows}\n}}")
    return "{\n" + ",\n".join(tables) + "\n}"


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in textwrap.wrap(text, _WIDTH - len(indent) - 2):
        yield f"{indent}# {line}"


def _spelled(key: Key, indent: str) -> list[str]:
    text = yaml.safe_dump({key.name: key.default}, sort_keys=False, width=10_000)
    return [f"{indent}{line}" for line in text.rstrip().splitlines()]
