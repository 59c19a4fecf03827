"""A clock that tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from training.platforms.common.patience import Timer


@dataclass
class Clockwork:
    """Time that passes only where somebody waits; no test waits itself."""

    now_s: float = 1_700_000_000.0
    waits_s: list[float] = field(default_factory=list)
    on_wait: Callable[[], None] = lambda: None

    def sleep(self, pause_s: float) -> None:
        self.waits_s.append(pause_s)
        self.now_s += pause_s
        self.on_wait()

    @property
    def timer(self) -> Timer:
        return Timer(now=lambda: self.now_s, sleep=self.sleep)
