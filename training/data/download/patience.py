"""How long a download waits, and how often it tries again."""

from __future__ import annotations

from dataclasses import dataclass
from random import SystemRandom
from typing import Final

_RANDOM: Final = SystemRandom()


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Limits of one download; all times are seconds."""

    connect_s: float = 10.0
    silence_s: float = 30.0
    """Without a byte: the connection is given up."""
    slowest_bytes_per_s: float = 1024.0
    """Averaged over twice `silence_s`; below it the connection is given up."""
    tries: int = 8
    """Failures in a row of one connection, until its address is given up."""
    progress_bytes: int = 64 * 1024
    """A failure after at least so many bytes is not counted as in a row."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 120.0
    """A server that asks for a longer wait is given up."""
    restarts: int = 2
    """How often a download begins anew because its source has changed."""

    def wait_s(self, failures: int, retry_after_s: float | None) -> float:
        """Return how long to wait after so many failures in a row.

        Between half and all of a time that doubles: many clients of one server that fell over
        must not come back all at once.
        """
        longest = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(failures - 1, 30))
        return max(retry_after_s or 0.0, _RANDOM.uniform(longest / 2, longest))
