"""A key of a chart's values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Key:
    """One line of values.yaml."""

    name: str
    default: Any
    rule: Schema
    """What it may hold, as JSON Schema; its description is `about`."""
    about: str
    old: str = ""
    """The old charts' key of the same meaning, or what they had instead."""
    written: bool = True
    """Whether values.yaml shows it; else it may only be given."""

    @property
    def is_needed(self) -> bool:
        """Whether there is no chart without it.

        Helm takes a null of `--set` for "leave the default out", so that the key is gone.
        """
        return self.written and self.default is not None


@dataclass(frozen=True, kw_only=True)
class Group:
    """A map of values.yaml; one without a name is the top level."""

    name: str
    about: str
    keys: tuple[Key, ...]
    gone: dict[str, str] = field(default_factory=dict)
    """Keys of the old charts that mean nothing now, and what to do instead."""
    judged: str | None = None
    """A pattern of keys that the schema lets pass, so that templates can refuse them otherwise: the
    schema's messages show the key."""

    def default(self) -> dict[str, Any]:
        return {key.name: key.default for key in self.keys if key.written}


def optional(rule: Schema) -> Schema:
    """Let a key also hold null, which means that the chart works it out."""
    if "enum" in rule:
        return {**rule, "enum": [*rule["enum"], None]}
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    return {**rule, "type": [*kinds, "null"]}


def whole(least: int, most: int | None = None) -> Schema:
    rule: Schema = {"type": "integer", "minimum": least}
    return rule if most is None else {**rule, "maximum": most}


def quoted(rule: Schema) -> Schema:
    """Let a number also come in quotes, as the old charts wrote some."""
    return {**rule, "type": [rule["type"], "string"], "pattern": r"^[0-9]+([.][0-9]+)?$"}


def one_of(*choices: Any) -> Schema:
    return {"enum": list(choices)}


def text(pattern: str | None = None, *, most: int | None = None) -> Schema:
    rule: Schema = {"type": "string"}
    if pattern is not None:
        rule["pattern"] = pattern
    if most is not None:
        rule["maxLength"] = most
    return rule


WHOLE_IN_JSON = 2**53 - 1
"""Beyond it a number that Helm has read from a file is another one; so it must be quoted."""


def texts(names: str, *, most: int | None = None) -> Schema:
    """A map of names, which match a pattern, to texts, or to numbers, which become texts.

    `--set` reads 7 as a number.
    """
    rule: Schema = {
        "type": "object",
        "patternProperties": {
            names: {
                "type": ["string", "number"],
                "minimum": -WHOLE_IN_JSON,
                "maximum": WHOLE_IN_JSON,
            }
        },
        "additionalProperties": False,
    }
    return rule if most is None else {**rule, "maxProperties": most}


FLAG: Schema = {"type": "boolean"}
PYTHON_FLAG: Schema = {"enum": [True, False, "True", "False"]}
"""A truth value as YAML or as Python writes it: the old charts had 'True'."""
