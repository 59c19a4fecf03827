"""Whose a run is, and whether its launcher lives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from training.platforms.sagemaker.containers.mark import Mark, new_mark

MAKE = "from training.platforms.sagemaker.containers.mark import new_mark; print(new_mark().text)"


def test_a_run_of_this_process_is_alive_and_unlike_the_next() -> None:
    assert not new_mark().is_dead
    assert new_mark() != new_mark()


def test_a_run_of_a_process_that_has_ended_is_dead() -> None:
    text = subprocess.run(
        [sys.executable, "-c", MAKE], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert Mark(text).is_dead


def test_another_process_of_the_same_number_is_another_launcher() -> None:
    number, started, here, own = new_mark().text.split("-")
    assert Mark(f"{number}-{int(started) + 1}-{here}-{own}").is_dead


@pytest.mark.parametrize("text", ["1-2-ffffff-abcdef", "a-folder", ""])
def test_what_cannot_be_seen_from_here_is_left_alone(text: str) -> None:
    assert not Mark(text).is_dead
