"""Output of horovodrun, by rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.layout import LogChannel
from training.ranklog import LAST_LINES, Line, RankLogs, parse


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[0]<stdout>:total_loss: 1.5", Line(0, "total_loss: 1.5")),
        ("[12]<stderr>:oops", Line(12, "oops")),
        ("[1,3]<stdout>:over MPI", Line(3, "over MPI")),
        ("[1,3]<stderr>:", Line(3, "")),
        ("mpirun noticed that", Line(None, "mpirun noticed that")),
        ("[1] not a tag", Line(None, "[1] not a tag")),
        ("", Line(None, "")),
        ("[1,1]<stdout>:step [1,1]<stdout>:40[1,1]<stdout>:", Line(1, "step 40")),
    ],
)
def test_a_line_is_given_to_its_rank(line: str, expected: Line) -> None:
    assert parse(line) == [expected]


def test_pieces_of_two_ranks_in_one_line_are_told_apart() -> None:
    assert parse("[1,0]<stderr>:ab[1,1]<stderr>:xy[1,0]<stderr>:c") == [
        Line(0, "abc"),
        Line(1, "xy"),
    ]


@given(rank=st.integers(0, 9999), text=st.text(st.characters(exclude_characters="[\n\r")))
def test_any_tagged_text_arrives_unchanged(rank: int, text: str) -> None:
    assert parse(f"[{rank}]<stdout>:{text}") == [Line(rank, text)]


def test_each_rank_has_a_file_of_its_own_and_its_last_lines_are_kept(tmp_path: Path) -> None:
    log = LogChannel(tmp_path)
    shown: list[str] = []
    logs = RankLogs(log, 3, shown.append)
    for number in range(LAST_LINES + 5):
        logs.write(f"[0]<stdout>:line {number}")
    logs.write("[1]<stderr>:boom")
    logs.write("from the launcher")
    logs.close()
    assert log.rank(0).read_text().splitlines() == [f"line {n}" for n in range(LAST_LINES + 5)]
    assert log.rank(1).read_text() == "boom\n"
    assert log.rank(2).read_text() == ""
    assert logs.last(0) == [f"line {n}" for n in range(5, LAST_LINES + 5)]
    assert logs.last(1) == ["boom"]
    assert logs.last(None) == ["from the launcher"]
    assert logs.last(7) == []
    assert shown[-1] == "[rank 1] boom"
    assert log.launcher.read_text() == "from the launcher\n"


def test_a_job_that_goes_on_adds_to_the_log_of_its_ranks(tmp_path: Path) -> None:
    log = LogChannel(tmp_path)
    for text in ("first", "second"):
        logs = RankLogs(log, 1, lambda _line: None)
        logs.write(f"[0]<stdout>:{text}")
        logs.close()
    assert log.rank(0).read_text() == "first\nsecond\n"
