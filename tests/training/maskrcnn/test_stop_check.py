from __future__ import annotations

from typing import Any

import pytest
import torch

from training.maskrcnn import stop_check
from training.maskrcnn.stop_check import StopCheck


class Ranks:
    """An engine of two ranks; the other one's numbers are made up."""

    size = 2
    device = torch.device("cpu")

    def __init__(self) -> None:
        self.asked = 0
        self.other = [0.0, 0.0]

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        self.asked += 1
        return tensor + torch.tensor(self.other, dtype=tensor.dtype)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stop_check, "time", clock)
    return clock


@pytest.mark.parametrize(
    ("turn_s", "questions"),
    [
        pytest.param(5.0, 65, id="slow pictures: each time"),
        pytest.param(0.25, 9, id="after the first, and after every eighth from there on"),
        pytest.param(0.0001, 2, id="quick pictures: after 64"),
    ],
)
def test_ranks_ask_about_every_two_seconds(clock: Clock, turn_s: float, questions: int) -> None:
    ranks: Any = Ranks()
    check = StopCheck(ranks, lambda: False)
    asked_at = 0.0
    for _ in range(65):
        clock.now += turn_s
        # The other rank is as quick.
        ranks.other = [0.0, clock.now - asked_at]
        before = ranks.asked
        assert not check.is_due()
        if ranks.asked > before:
            asked_at = clock.now
    assert ranks.asked == questions


def test_a_request_on_another_rank_is_seen(clock: Clock) -> None:
    ranks: Any = Ranks()
    ranks.other = [1.0, 0.0]
    assert StopCheck(ranks, lambda: False).is_due()


def test_own_request_is_seen_in_the_first_turn(clock: Clock) -> None:
    ranks: Any = Ranks()
    assert StopCheck(ranks, lambda: True).is_due()
