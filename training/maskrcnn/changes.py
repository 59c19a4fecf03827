"""What is different when a run goes on with other hyperparameters than it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.errors import JobFailed
from training.maskrcnn.hyperparameters import Hyperparameters

DECIDE_ORDER = (
    "seed",
    "data_train",
    "aspect_ratio_grouping",
    "repeat_threshold",
    "shuffle",
    "empty_pictures",
)
"""With another one, a position in the pass stands for other pictures."""


def describe_changes(before: Mapping[str, Any], now: Hyperparameters) -> str | None:
    """Return a note of what is different; None where nothing is.

    Args:
        before: What a checkpoint has, as plain JSON values. What it does not have came later, and
            was then what is the default now.

    Raises:
        JobFailed: The order of the pictures is another one.
    """
    values = now.model_dump(mode="json")
    before = {**Hyperparameters().model_dump(mode="json"), **before}
    changed = [name for name in values if before[name] != values[name]]

    def describe(names: list[str]) -> str:
        return ", ".join(f"{name} {before[name]!r} to {values[name]!r}" for name in names)

    if of_order := [name for name in changed if name in DECIDE_ORDER]:
        raise JobFailed(
            f"its checkpoints belong to another order of the pictures ({describe(of_order)}), so "
            "that some would come twice and others never; give the hyperparameters of before, or "
            "another --log-dir"
        )
    if changed:
        return f"goes on with other hyperparameters than before: {describe(changed)}"
    return None
