"""How far a node's clock is from the head's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .check import Check, failed, ok, warning

SAMPLES = 4

NOTABLE_S = 0.5
FATAL_S = 10.0
"""A node whose registration is 30 s old counts as gone, and it is the node that dates it."""


@dataclass(frozen=True)
class Sample:
    """One question and its answer, as NTP measures (RFC 5905, section 8)."""

    sent: float
    answered: float
    """By the clock of who answers."""
    received: float

    @property
    def offset_s(self) -> float:
        """By how much the other clock is ahead, if both ways take equally long."""
        return self.answered - (self.sent + self.received) / 2

    @property
    def error_s(self) -> float:
        """By how much the offset may be wrong."""
        return (self.received - self.sent) / 2


def sample(ask: Callable[[], float], clock: Callable[[], float] = time.time) -> Sample:
    """Ask another clock once."""
    sent = clock()
    answered = ask()
    return Sample(sent, answered, clock())


def judge_clock(samples: Iterable[Sample]) -> Check:
    """Judge the best of some samples: the one that came back first."""
    best = min(samples, key=lambda each: each.error_s)
    value = f"{best.offset_s * 1000:+.1f} ms"
    # What the way there and back explains is no fault of the clock.
    certain_s = max(0.0, abs(best.offset_s) - best.error_s)
    what = f"the clock is {abs(best.offset_s):.1f} s {'ahead' if best.offset_s > 0 else 'behind'}"
    if certain_s > FATAL_S:
        return failed(
            "clock",
            f"{what} of the head's: the node would soon count as gone. Restart chrony there, or "
            "replace it",
            value,
        )
    if certain_s > NOTABLE_S:
        return warning("clock", f"{what} of the head's. Is chrony running there?", value)
    return ok("clock", value)
