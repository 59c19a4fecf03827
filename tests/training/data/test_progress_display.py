from __future__ import annotations

import pytest

from training.data import progress_display
from training.data.progress import format_bytes
from training.data.progress_display import show_progress


def test_a_log_gets_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_display, "SECONDS_BETWEEN_LINES", 0)
    with show_progress("Staging [to] s3", 4_000_000, "bytes") as progress:
        progress.advance(1_000_000)
        progress.advance(1_000_000)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "Staging [to] s3: 25% of 4.0 MB\nStaging [to] s3: 50% of 4.0 MB\n"


def test_a_quick_piece_of_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("Drawing", 0, "pictures") as progress:
        progress.advance(0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (2109593, "2.1 MB"), (25_000_000_000, "25.0 GB")],
)
def test_bytes_are_shown_for_people(value: int, text: str) -> None:
    assert format_bytes(value) == text
