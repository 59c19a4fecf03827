"""What a cell says when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from training.aws.errors import translated
from training.errors import TrainingError


class Told(TrainingError):
    """A failure that is the user's to mend: Jupyter shows its message alone, and stops there."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback.

        https://ipython.readthedocs.io/en/stable/config/integrating.html#custom-exception-tracebacks
        """
        return [f"{self.label}: {self}"]


@contextmanager
def told() -> Iterator[None]:
    """Turn every error that is meant for the user into `Told`."""
    try:
        with translated():
            yield
    except TrainingError as error:
        raise Told(str(error)) from error
