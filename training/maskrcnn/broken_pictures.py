"""Pictures that cannot be used: named once each, and too many of them end the run."""

from __future__ import annotations

from collections.abc import Sequence

from training.errors import JobFailed
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.metrics import Recorder


class BrokenPictures:
    """Those that all ranks have met since the start."""

    def __init__(self, engine: Engine, recorder: Recorder, *, limit: int) -> None:
        self._engine = engine
        self._recorder = recorder
        self._limit = limit
        self._known: set[str] = set()

    def add(self, met: Sequence[str]) -> None:
        """Take what each rank met in a step; called by all ranks alike.

        Raises:
            JobFailed: There are more than the limit; raised on all ranks.
        """
        of_ranks = self._engine.broadcast(self._engine.gather(tuple(met)))
        new = {message for of_rank in of_ranks for message in of_rank} - self._known
        for message in sorted(new):
            self._recorder.say(f"picture left out: {message}")
        self._known |= new
        if len(self._known) > self._limit:
            raise JobFailed(
                f"{len(self._known)} pictures cannot be used, more than max_broken_pictures "
                f"{self._limit}: {'; '.join(sorted(new))}"
            )
