from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from node.conductor.shipping import MOST_BYTES, MOST_EVENT_BYTES, MOST_EVENTS, batch


def read_all(path: Path) -> tuple[list[str], int]:
    offset, messages = 0, []
    while True:
        events, size = batch(path, offset, now_ms=5)
        if not size:
            return messages, offset
        assert len(events) <= MOST_EVENTS
        assert sum(len(event["message"].encode()) + 26 for event in events) <= MOST_BYTES
        assert all(0 < len(event["message"].encode()) <= MOST_EVENT_BYTES for event in events)
        assert all(event["timestamp"] == 5 for event in events)
        messages += [event["message"] for event in events]
        offset += size


def test_lines_are_events_and_the_one_that_is_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("one\n\n  \ntwo\nthr")
    assert read_all(path) == (["one", "two"], 12)
    path.write_text("one\n\n  \ntwo\nthree\n")
    assert batch(path, 12, now_ms=1) == ([{"timestamp": 1, "message": "three"}], 6)


def test_many_and_long_lines_come_in_several_requests(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = [f"line {number}" for number in range(12_000)]
    path.write_text("\n".join([*lines, "x" * 700_000, "end", ""]))
    messages, offset = read_all(path)
    assert messages[:12_000] == lines
    assert "".join(messages[12_000:-1]) == "x" * 700_000
    assert (messages[-1], offset) == ("end", path.stat().st_size)


def test_a_missing_file_has_no_events(tmp_path: Path) -> None:
    assert batch(tmp_path / "log", 0, now_ms=1) == ([], 0)


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])), max_size=20))
def test_every_line_arrives_once(tmp_path_factory, lines) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("shipping") / "log"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    messages, offset = read_all(path)
    assert messages == [line for line in lines if line.strip()]
    assert offset == path.stat().st_size
