"""Answers that have a time limit."""

from __future__ import annotations

import threading

import pytest

from training.preflight.in_time import in_time

LATE = RuntimeError("too late")


def test_an_answer_in_time_is_returned() -> None:
    assert in_time(lambda: 7, time_limit_s=30, late=LATE) == 7


def test_what_the_question_raises_is_raised() -> None:
    def refuse() -> None:
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        in_time(refuse, time_limit_s=30, late=LATE)


def test_after_the_limit_nobody_waits() -> None:
    over = threading.Event()
    with pytest.raises(RuntimeError, match="too late"):
        in_time(lambda: over.wait(60), time_limit_s=0.1, late=LATE)
    over.set()
