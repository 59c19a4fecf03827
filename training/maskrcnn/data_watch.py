"""Whether loading data holds training up."""

from __future__ import annotations

import os
from collections.abc import Mapping

DATA_BOUND_SHARE = 0.2
"""A larger share of the time spent waiting for data is worth a warning."""


class DataWatch:
    """Says, once, that training waits for its pictures."""

    def __init__(self, *, num_workers: int, ranks_of_host: int) -> None:
        self._num_workers = num_workers
        self._ranks_of_host = ranks_of_host
        # In the first window the workers start.
        self._windows_left = 1
        self._is_told = False

    def look(self, values: Mapping[str, float]) -> str | None:
        """Take a window's metrics; return what the user should know."""
        share, speed = values["data_wait_share"], values["images_per_second"]
        if self._windows_left:
            self._windows_left -= 1
            return None
        if self._is_told or share <= DATA_BOUND_SHARE:
            return None
        self._is_told = True
        return (
            f"loading data is the bottleneck: {share:.0%} of the time training waits for pictures; "
            f"without that it would do about {speed / max(1 - share, 0.01):.1f} img/s, not "
            f"{speed:.1f}. {self._advice()}"
        )

    def _advice(self) -> str:
        cores = len(os.sched_getaffinity(0))
        if self._num_workers * self._ranks_of_host < cores:
            return (
                f"Raise num_workers: {self._num_workers} for each of {self._ranks_of_host} ranks, "
                f"and this host has {cores} cores"
            )
        return (
            f"num_workers {self._num_workers} for each of {self._ranks_of_host} ranks already "
            f"takes this host's {cores} cores: pack the pictures (python -m training.data pack), "
            "or take faster storage or a host with more cores for each GPU"
        )
