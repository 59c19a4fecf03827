"""The base of each group of settings: typed fields, each the value of one context key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from stacks.settings.text import problems_of_text

Value = TypeVar("Value")

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
_NOTHING = ("", "none")
"""What fields of numbers may read as absent."""


class SettingsGroup(BaseModel):
    """Settings of one part, frozen.

    A field's description says what is allowed; it is part of the error message and of the
    reference. A group may give its keys a prefix: `model_config = prefixed("fsx_")` makes the
    field `capacity_gib` the context key `fsx_capacity_gib`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _numbers_are_whole(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse what pydantic would take for a number: true for 1, 2.0 and 1_000."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        if int in (annotation, *get_args(annotation)) and not _is_whole(value):
            raise PydanticCustomError("whole_number", "it is no whole number")
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _texts_are_plain(cls, value: Any) -> Any:
        refuse(problems_of_text(value))
        return value

    @classmethod
    def allowed(cls) -> dict[str, str]:
        """Return context key to what it allows."""
        return {
            field.alias or name: field.description or "" for name, field in cls.model_fields.items()
        }

    def given(self, names: Iterable[str]) -> list[str]:
        """Return those of the fields that the context sets; an empty text sets nothing."""
        return [
            name
            for name in names
            if name in self.model_fields_set and getattr(self, name) is not None
        ]


def prefixed(prefix: str) -> ConfigDict:
    """Return the configuration of a group whose context keys begin so."""
    return ConfigDict(alias_generator=lambda name: prefix + name)


def _is_whole(value: object) -> bool:
    """Tell whether a field of whole numbers may be given so; None and some texts are absent."""
    if isinstance(value, str):
        return value in _NOTHING or bool(_WHOLE_NUMBER.fullmatch(value))
    return not isinstance(value, bool | float)


def _split_list(value: object) -> object:
    """Read a list as `-c` gives it: `a,b,c` or a JSON array; an empty text is an empty list."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        return _parse_json(text)
    return [item.strip() for item in text.split(",")] if text else []


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no valid JSON ({error})") from error


def _split_map(value: object) -> object:
    """Read a mapping as `-c` gives it: `a=1,b=2` or a JSON object."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("{"):
        return _parse_json(text)
    pairs = [item.partition("=") for item in text.split(",") if item.strip()]
    if any(not separator for _, separator, _ in pairs):
        raise ValueError("each item is name=value")
    names = [name.strip() for name, _, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name is there twice")
    return {name.strip(): item.strip() for name, _, item in pairs}


CommaSeparated = BeforeValidator(_split_list)
"""Makes a tuple's field take `a,b,c` too."""

Pairs = Annotated[dict[str, str], BeforeValidator(_split_map)]


def refuse(problems: Iterator[str]) -> None:
    """Raise the first problem, if there is one, as pydantic expects it.

    Raises:
        ValueError: The problem.
    """
    for problem in problems:
        raise ValueError(problem)


def checked_by(problems_of: Callable[[Value], Iterator[str]]) -> Callable[[Value], Value]:
    """Make a validator of a function that yields what is wrong with a value."""

    def check(value: Value) -> Value:
        refuse(problems_of(value))
        return value

    return check


def none_if_empty(value: Any) -> Any:
    """Read an empty text as absent: `-c efs_id=` takes back what cdk.json sets."""
    return None if value == "" else value


OptionalText = Annotated[str | None, BeforeValidator(none_if_empty)]
"""The type of a text that may be left out."""
