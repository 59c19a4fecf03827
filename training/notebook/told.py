"""What a cell says when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from training.aws.errors import translated
from training.errors import TrainingError
from training.told import Told

__all__ = ["Told", "told"]


@contextmanager
def told() -> Iterator[None]:
    """Turn every error that is meant for the user into `Told`."""
    try:
        with translated():
            yield
    except TrainingError as error:
        raise Told(str(error)) from error
