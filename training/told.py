"""What a cell of a notebook says when it fails."""

from __future__ import annotations

from training.errors import TrainingError


class Told(TrainingError):
    """A failure that is the user's to mend: Jupyter shows its message alone, and stops there."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback.

        https://ipython.readthedocs.io/en/stable/config/integrating.html#custom-exception-tracebacks
        """
        return [f"{self.label}: {self}"]
