"""/opt/ml/output/failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from entrypoint.failure import failure_text, write_failure
from hypothesis import given
from hypothesis import strategies as st


def test_the_newest_lines_are_kept() -> None:
    lines = [f"line {number} {'x' * 60}" for number in range(100)]
    text = failure_text("rank 3 on algo-2 ended with exit code 1", "rank 3", lines)
    assert text.startswith("rank 3 on algo-2 ended with exit code 1\nLast lines of rank 3:\nline ")
    assert text.endswith(lines[-1])
    assert 900 < len(text) <= 1024


def test_without_lines_the_reason_stands_alone() -> None:
    assert failure_text("why", "rank 0", []) == "why"


@given(reason=st.text(max_size=2000), lines=st.lists(st.text(max_size=600), max_size=30))
def test_it_never_is_longer_than_sagemaker_shows(reason: str, lines: list[str]) -> None:
    assert len(failure_text(reason, "rank 12", lines).encode("utf-8", "replace")) <= 1024


def test_the_file_is_made_with_its_folder_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "output" / "failure"
    write_failure(str(path), "é" * 1000)
    assert path.read_text(encoding="utf-8") == "é" * 510 + " …"


def test_a_failure_that_cannot_be_written_is_said_and_no_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_failure("/proc/output/failure", "why")
    assert "/proc/output/failure: cannot be written (" in capsys.readouterr().err
