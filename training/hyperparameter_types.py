"""The types of hyperparameters' values, shared by all algorithms.

A value comes as YAML or JSON has it, or as text that spells it in JSON or Python (`FreezeBN`,
`"FreezeBN"`, `True`, `[(16, 0.1), (20, 0.01), (24, None)]`), which is how SageMaker passes it: all
are taken alike.
"""

from __future__ import annotations

import ast
import json
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field


def read_text(value: Any) -> Any:
    """Turn a string into the value that it spells in JSON or Python; leave other things alone.

    A string in quotes spells what is inside them: `"5"` is 5, as SageMaker's SDK writes a text.
    """
    read = _read_once(value)
    return _read_once(read) if isinstance(value, str) and isinstance(read, str) else read


def read_word(value: Any) -> Any:
    """Undo JSON quoting; a word that looks like another type stays a word."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    return _read_once(text) if text[:1] in {'"', "'"} else text


def _read_once(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return text


def read_optional_word(value: Any) -> Any:
    word = read_word(value)
    return None if word in ("None", "null", "") else word


def read_norm(value: Any) -> Any:
    """YAML's null means the choice that is spelled `None`."""
    word = read_word(value)
    return "None" if word is None else word


def read_names(value: Any) -> Any:
    """Read `a`, `a,b`, `["a", "b"]` or a list as a list of names."""
    value = read_text(value)
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def read_list(value: Any) -> Any:
    """Read a list; one number stands for a list of one."""
    value = read_text(value)
    return [value] if isinstance(value, int | float) else value


def only_true(meaning: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        value = read_text(value)
        if value is not True:
            raise ValueError(f"only True is allowed: {meaning}")
        return value

    return BeforeValidator(check)


def _check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands there twice; name each split once")
    return names


def _check_lr_schedule(steps: tuple[int, ...]) -> tuple[int, ...]:
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise ValueError("the steps must increase, for example [240000, 320000, 360000]")
    return steps


def _check_lr_epoch_schedule(
    pairs: tuple[tuple[int, float | None], ...],
) -> tuple[tuple[int, float | None], ...]:
    example = "for example [(16, 0.1), (20, 0.01), (24, None)]"
    if any(later[0] <= earlier[0] for earlier, later in pairwise(pairs)):
        raise ValueError(f"the epochs must increase, {example}")
    multipliers = [multiplier for _, multiplier in pairs]
    if multipliers[-1] is not None or None in multipliers[:-1]:
        raise ValueError(f"the last pair, and only that, has None and ends training, {example}")
    return pairs


TEXT = BeforeValidator(read_text)
WORD = BeforeValidator(read_word)

# Each name below is a type of value; strict, so that True is no 1 and 1.5 no 1.
Int = Annotated[int, Field(strict=True), TEXT]
Float = Annotated[float, Field(strict=True, allow_inf_nan=False), TEXT]
_MOST = 2**31 - 1
"""More pictures or steps than anybody trains; a larger number is a slip, or ends the trainer."""

OptionalCount = Annotated[Annotated[int, Field(strict=True, ge=1, le=_MOST)] | None, TEXT]
OptionalLayers = Annotated[Annotated[int, Field(strict=True, ge=0, le=5)] | None, TEXT]
OptionalLimit = Annotated[
    Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None, TEXT
]
# In an argument list or a path a file must not be taken for an option or lead out of its folder.
FileName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$")
]
File = Annotated[FileName, BeforeValidator(read_word)]
OptionalFile = Annotated[FileName | None, BeforeValidator(read_optional_word)]
OptionalWord = Annotated[str | None, BeforeValidator(read_optional_word)]
Bool = Annotated[bool, Field(strict=True), TEXT]
Norm = Annotated[Literal["FreezeBN", "SyncBN", "GN", "None"], BeforeValidator(read_norm)]
Count = Annotated[Int, Field(ge=1, le=_MOST)]
Channels = Annotated[Int, Field(ge=8, multiple_of=8)]
Fraction = Annotated[Float, Field(ge=0, le=1)]
Counts = Annotated[tuple[Count, ...], Field(min_length=1), BeforeValidator(read_list)]
Floats = Annotated[tuple[Annotated[Float, Field(gt=0)], ...], BeforeValidator(read_list)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Names = Annotated[
    tuple[Name, ...],
    Field(min_length=1),
    BeforeValidator(read_names),
    AfterValidator(_check_names),
]
Multiplier = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
LrSchedule = Annotated[tuple[Count, ...], Field(min_length=1), AfterValidator(_check_lr_schedule)]
LrEpochSchedule = Annotated[
    tuple[tuple[Count, Multiplier | None], ...],
    Field(min_length=1),
    AfterValidator(_check_lr_epoch_schedule),
]
