"""What a job of the demo learned, what it must learn, and how that is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from training.errors import JobFailed
from training.layout import LogChannel

LOSS = "total_loss"
MAP = "mAP(segm)/IoU=0.5:0.95"
MAP_50 = "mAP(segm)/IoU=0.5"

LAST_LINES = 3
"""Lines of metrics that the last loss is the mean of, since a single one jumps."""


@dataclass(frozen=True)
class Learned:
    """What the metrics of a job say.

    Attributes:
        first_loss: Mean total loss of the first steps that were recorded.
        last_loss: The same of the last ones.
        evaluation: Metric name to value, of the last evaluation.
        train_s: Seconds from the first to the last line of metrics.
    """

    first_loss: float
    last_loss: float
    evaluation: Mapping[str, float]
    train_s: float


@dataclass(frozen=True)
class Goal:
    """What a job must reach; the demo has failed otherwise."""

    text: str
    is_met: Callable[[Learned], bool]


LOSS_HALVED = Goal("the loss falls by half", lambda it: it.last_loss <= it.first_loss / 2)

SHAPES_LEARNED = Goal(
    f"{MAP} is at least 0.60 and {MAP_50} at least 0.85",
    lambda it: it.evaluation[MAP] >= 0.60 and it.evaluation[MAP_50] >= 0.85,
)


def find_log(result: Path) -> LogChannel:
    """Return a job's log channel, from what the launcher printed when it was done."""
    return LogChannel(Path(json.loads(result.read_text(encoding="utf-8"))["log"]))


def read_learned(log: LogChannel) -> Learned:
    """Read what a job learned from its metrics.

    Raises:
        JobFailed: The job recorded no loss or no evaluation.
    """
    lines = [json.loads(line) for line in log.metrics.read_text(encoding="utf-8").splitlines()]
    losses = [line["values"][LOSS] for line in lines if LOSS in line["values"]]
    evaluations = [line["values"] for line in lines if line["kind"] == "evaluation"]
    if not losses or not evaluations:
        raise JobFailed(f"{log.metrics}: has no loss or no evaluation")
    last = losses[-LAST_LINES:]
    return Learned(
        first_loss=losses[0],
        last_loss=sum(last) / len(last),
        evaluation=evaluations[-1],
        train_s=lines[-1]["time_s"] - lines[0]["time_s"],
    )


def describe(learned: Learned) -> str:
    """Return what a job learned in one line."""
    return (
        f"loss {learned.first_loss:.2f} to {learned.last_loss:.2f}, "
        f"{MAP} {learned.evaluation[MAP]:.2f}, {MAP_50} {learned.evaluation[MAP_50]:.2f}"
    )


def check(name: str, learned: Learned, goal: Goal) -> None:
    """Compare a job with its goal.

    Raises:
        JobFailed: It did not reach it.
    """
    if not goal.is_met(learned):
        raise JobFailed(f"{name}: {describe(learned)}; expected that {goal.text}")
