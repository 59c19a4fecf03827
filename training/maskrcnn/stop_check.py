"""Asking all ranks, every few seconds, whether one of them was asked to stop."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from training.maskrcnn.engines.engine import Engine

CHECK_PERIOD_S = 2.0
"""About so long from one question to the next: asking makes ranks wait for the slowest."""
MOST_TURNS = 64


class StopCheck:
    """Counts turns that all ranks take alike; all ranks get the same answer in the same turn.

    How many turns lie between two questions follows from the time that the ranks took together,
    so that they agree on it, and so that slow work is stopped as soon as quick work.
    """

    def __init__(self, engine: Engine, is_stop_requested: Callable[[], bool]) -> None:
        self._engine = engine
        self._is_stop_requested = is_stop_requested
        self._turns_left = 0
        self._turns = 1
        self._asked_at = time.monotonic()

    def is_due(self) -> bool:
        """Take a turn; return whether any rank was asked to stop, False where none was asked."""
        if self._turns_left:
            self._turns_left -= 1
            return False
        return self._ask()

    def _ask(self) -> bool:
        own = [float(self._is_stop_requested()), time.monotonic() - self._asked_at]
        numbers = torch.tensor(own, dtype=torch.float64, device=self._engine.device)
        stop, seconds = self._engine.sum(numbers).tolist()
        of_a_turn = seconds / self._engine.size / self._turns
        self._turns = max(1, min(MOST_TURNS, int(CHECK_PERIOD_S / max(of_a_turn, 1e-9))))
        self._turns_left = self._turns - 1
        self._asked_at = time.monotonic()
        return bool(stop > 0)
