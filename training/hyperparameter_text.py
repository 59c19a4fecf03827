"""Writes hyperparameters as texts, which is all that SageMaker passes on.

The texts are those that the algorithms' own programs read: plain words (`FreezeBN`), and Python's
spelling of everything else (`True`, `None`, `[(16, 0.1), (20, 0.01), (24, None)]`). A word that
would not survive as it is, for example one with a line break, is written in JSON's quotes, which
every reader takes off: docker/entrypoint, and `training.hyperparameter_types`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def to_texts(hyperparameters: BaseModel) -> dict[str, str]:
    """Return the name and text of every hyperparameter, also of those left at their default."""
    return {name: to_text(value) for name, value in hyperparameters.model_dump().items()}


def to_text(value: Any) -> str:
    """Return a value as text, on one line.

    Args:
        value: A string, number, truth value, None, or a list or map of such.
    """
    if isinstance(value, str):
        return value if _survives(value) else json.dumps(value)
    # A list of tuples, as the original jobs spell a schedule; to the readers both are the same.
    return repr(list(value) if isinstance(value, tuple) else value)


def _survives(text: str) -> bool:
    """Return whether readers, which take off quotes and blanks at the ends, get the same text.

    Only printable characters stay as they are: SageMaker's pattern for a value, `.*`, lets no
    kind of line break through.
    """
    return text.isprintable() and text == text.strip() and text[:1] not in {'"', "'"}
