"""Each step shows its name, that it moves, and its time; what is done is skipped."""

from __future__ import annotations

import io
import re
import time

import pytest

from toolchain import steps
from toolchain.errors import SetupError
from toolchain.steps import Step, in_words, run_steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_steps_run_in_order_with_name_and_time() -> None:
    done: list[str] = []
    stream = io.StringIO()
    run_steps(
        [
            Step("First", lambda progress: done.append("first")),
            Step("Second one", lambda progress: done.append("second")),
        ],
        stream=stream,
    )
    assert done == ["first", "second"]
    assert re.fullmatch(
        r"\[1/2\] First ...\n\[1/2\] First       done \(0\.0 s\)\n"
        r"\[2/2\] Second one ...\n\[2/2\] Second one  done \(0\.0 s\)\n",
        stream.getvalue(),
    )


def test_step_that_is_done_is_skipped() -> None:
    stream = io.StringIO()
    run_steps([Step("Packages", lambda progress: pytest.fail(), lambda: True)], stream=stream)
    assert stream.getvalue() == "[1/1] Packages  already done\n"


def test_failure_stops_the_steps_and_is_shown() -> None:
    stream = io.StringIO()

    def fail(progress: object) -> None:
        raise SetupError("no network")

    with pytest.raises(SetupError, match="no network"):
        run_steps([Step("A", fail), Step("B", lambda progress: pytest.fail())], stream=stream)
    assert "[1/2] A  failed (0.0 s)\n" in stream.getvalue()
    assert "B" not in stream.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_long_step_shows_that_it_moves(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "PIPE_INTERVAL_S", 0.05)
    monkeypatch.setattr(steps, "TERMINAL_INTERVAL_S", 0.05)
    counter = iter(range(1000))

    def work(progress: steps.Progress) -> None:
        progress("downloading")
        time.sleep(0.12)
        progress(lambda: f"{next(counter)} installed")
        time.sleep(0.2)

    run_steps([Step("Packages", work)], stream=stream)
    text = stream.getvalue()
    assert re.search(r"Packages  0\.\d s  downloading", text)
    assert re.search(r"0 installed[\s\S]*1 installed", text)
    assert ("\r\x1b[K" in text) == stream.isatty()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (61.4, "1 min 1 s"),
        (419.8, "7 min 0 s"),
        (3600, "60 min 0 s"),
    ],
)
def test_a_time_is_told_as_people_say_it(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
