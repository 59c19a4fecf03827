"""Turns pydantic's errors into lines that name the place, the value and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

_WORDS = {
    "dict_type": "Expected keys and values",
    "list_type": "Expected a list",
    "model_type": "Expected keys and values",
    "path_type": "Expected a path",
    "string_type": "Expected a text; what YAML would take for something else goes in quotes",
    "tuple_type": "Expected a list",
}
"""In place of pydantic's words, which are those of Python, by its error types."""


def explain(error: ValidationError, model: type[BaseModel], *, prefix: str = "") -> list[str]:
    """Return one line for each thing that is wrong.

    Args:
        error: What `model` raised.
        model: Where to look up the allowed keys.
        prefix: Put before each key, for example `hyperparameters.`.
    """
    lines: list[str] = []
    problems = error.errors(include_url=False)
    for item in problems:
        location = item["loc"]
        if any(_is_inside(other["loc"], location) for other in problems):
            # "Too short" of a list, only because one of its items was refused.
            continue
        key = prefix + ".".join(str(part) for part in location)
        if item["type"] == "extra_forbidden":
            lines.append(unknown_key(key, str(location[-1]), _fields_at(model, location[:-1])))
        elif item["type"] == "missing":
            lines.append(f"{key}: is required")
        else:
            message = _WORDS.get(item["type"], item["msg"]).removeprefix("Value error, ")
            where = f"{key}: {_shortened(item['input'])}: " if location else ""
            lines.append(f"{where}{message[0].lower()}{message[1:]}")
    return lines


def _is_inside(inner: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(inner) > len(outer) > 0 and inner[: len(outer)] == outer


def unknown_key(key: str, name: str, known: Iterable[str]) -> str:
    """Return the line for a key that is not known, with the nearest one that is.

    Args:
        key: The whole dotted key.
        name: Its part that is not known.
        known: What could be there.
    """
    names = sorted(known)
    near = [known_name for known_name in names if name and known_name.startswith(name)]
    near = near or difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{key}: unknown key; {hint}known keys: {', '.join(names)}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> Iterable[str]:
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None:
            break
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            model = annotation
    return model.model_fields
