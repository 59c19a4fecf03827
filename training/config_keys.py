"""`config:KEY`: hyperparameters that go to TensorPack's own configuration.

Both TensorFlow 1 implementations take `KEY=VALUE` arguments and run Python's `eval` on the value,
unless the key holds a text. Here a value must therefore be a Python literal, which `eval` cannot be
made to run, and only a key that is known to hold a text may have any text.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from training.hyperparameter_types import read_word

PREFIX = "config:"


def split_config(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the hyperparameters without the `config:` ones, and these by their key.

    A key may be nested: `--set hyperparameters.config:TRAIN.BASE_LR=0.02` makes
    `{"config:TRAIN": {"BASE_LR": 0.02}}`.
    """
    own = {name: value for name, value in values.items() if not _is_config(name)}
    config: dict[str, Any] = {}
    for name, value in values.items():
        if _is_config(name):
            config.update(_flatten(name.removeprefix(PREFIX), value))
    return own, config


def check_config(
    config: Mapping[str, Any],
    *,
    known: frozenset[str],
    texts: frozenset[str],
    set_by: Mapping[str, str],
) -> dict[str, str]:
    """Return the values as the command line needs them.

    Args:
        known: The keys that there are.
        texts: Those that hold a text.
        set_by: Keys that are set in another way, and in which.

    Raises:
        ValueError: A key or value cannot be taken.
    """
    checked = {}
    for key, value in config.items():
        if key in set_by:
            raise ValueError(f"{PREFIX}{key}: {set_by[key]}")
        if key not in known:
            raise ValueError(
                f"{PREFIX}{key}: the configuration has no such key; {_hint(key, known)}"
            )
        checked[key] = _text_of(key, value, is_text=key in texts)
    return checked


def _hint(key: str, known: frozenset[str]) -> str:
    near = difflib.get_close_matches(key.upper(), sorted(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    groups = sorted({name.partition(".")[0] for name in known})
    return f"its keys begin with {', '.join(groups)}, for example {min(known)}"


def _is_config(name: object) -> bool:
    return isinstance(name, str) and name.startswith(PREFIX)


def _flatten(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield key, value
        return
    for name, inner in value.items():
        yield from _flatten(f"{key}.{name}", inner)


def _text_of(key: str, value: Any, *, is_text: bool) -> str:
    text = str(read_word(value)) if isinstance(value, str) else repr(value)
    if is_text:
        return text
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise ValueError(
            f"{PREFIX}{key}: {text!r}: expected a number, True, False, None, or a list or tuple, "
            "as Python writes them"
        ) from None
    return text
