"""Which metric is what, by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

MAP_RANGES = ("IoU=0.5:0.95", "IoU=0.5", "IoU=0.75", "small", "medium", "large")
"""COCO's summary, the headline figure first."""
MAP_HEADLINE = MAP_RANGES[0]


class Role(Enum):
    """What a training metric says, and so where it is drawn."""

    TOTAL_LOSS = "total loss"
    LOSS = "loss"
    LEARNING_RATE = "learning rate"
    THROUGHPUT = "throughput"
    DATA_WAIT = "data wait"
    """The share of a step, 0 to 1, that training waited for pictures."""
    MEMORY = "memory"
    """MiB, the most so far."""
    EVALUATION_TIME = "evaluation time"
    OTHER = "other"


_RULES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (Role.TOTAL_LOSS, re.compile(r"(.*/)?(total_(loss|cost)|loss)")),
    (Role.LEARNING_RATE, re.compile(r"(.*/)?(lr|learning_rate)")),
    (Role.THROUGHPUT, re.compile(r"(.*/)?(images?|img)(/s|_per_s(econd)?)|.*throughput.*")),
    (Role.DATA_WAIT, re.compile(r".*data_?wait(?!.*_s$).*")),
    (Role.MEMORY, re.compile(r"(.*/)?memory_mib")),
    (Role.EVALUATION_TIME, re.compile(r".*eval(uation)?.*(_s|seconds|time)")),
    (Role.LOSS, re.compile(r".*loss")),
)


def role_of(name: str) -> Role:
    """Return the first role whose rule fits the whole name."""
    return next((role for role, rule in _RULES if rule.fullmatch(name)), Role.OTHER)


def having(role: Role, names: Iterable[str]) -> list[str]:
    """Return the names of one role, in their order."""
    return [name for name in names if role_of(name) is role]


def map_name(task: str, of: str) -> str:
    """Return the name of a mean average precision; task is `bbox` or `segm`."""
    return f"mAP({task})/{of}"
