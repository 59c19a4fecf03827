"""Batch, epochs and warm-up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import codes_of
from training.preflight.job.schedule import ScheduleMakesSense

SOUND: dict[str, Any] = {
    "global_batch_size": 32,
    "warmup_steps": 1000,
    "total_steps": 90_000,
    "images_per_epoch": 120_000,
}


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"images_per_epoch": None, "total_steps": None}, []),
        ({"images_per_epoch": 32}, []),
        ({"images_per_epoch": 31}, ["epoch-shorter-than-step"]),
        ({"total_steps": 1001}, []),
        ({"total_steps": 1000}, ["training-ends-in-warmup"]),
        (
            {"total_steps": 10, "images_per_epoch": 1},
            ["epoch-shorter-than-step", "training-ends-in-warmup"],
        ),
    ],
)
def test_what_does_not_go_together_is_told(changes: dict[str, Any], codes: list[str]) -> None:
    assert codes_of(ScheduleMakesSense(**{**SOUND, **changes})) == codes
