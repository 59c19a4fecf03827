from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.conductor import answers, jobs
from node.conductor.answers import MOST_BYTES, fitting, to_text
from node.conductor.places import RunFolder
from node.conductor.state import State


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output of a job that has ended."""
    run = RunFolder(tmp_path)
    run.conductor.mkdir()
    state = State("one", "horovod", str(tmp_path), "", state="completed")
    monkeypatch.setattr(jobs, "find", lambda _config, _name: (run, state))
    return run.output


def test_the_size_of_all_is_told_with_each_piece(log: Path) -> None:
    config: Any = None
    assert answers.logs(config, {"name": "one"})["size"] == 0
    log.write_text("é" * 20_000)
    for offset in (0, 15_000 * 2, 39_999):
        assert answers.logs(config, {"name": "one", "offset": offset})["size"] == 40_000


def follow(offset: int = 0) -> tuple[str, int]:
    """Read to the end, as the launcher does."""
    config: Any = None
    texts = []
    while True:
        answer = answers.logs(config, {"name": "one", "offset": offset})
        assert len(to_text(answer).encode()) <= MOST_BYTES
        texts.append(answer["text"])
        assert answer["next"] > offset or answer["done"]
        offset = answer["next"]
        if answer["done"]:
            return "".join(texts), offset


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n" * 40_000,
        "\x00\x1b" * 20_000,
        "\u20ac" * 30_000,
        '"' * 50_000,
        "\U0001f600" * 9000,
        "\u2588" * 20_000,
    ],
)
def test_pieces_make_up_the_whole(log: Path, text: str) -> None:
    log.write_text(text)
    assert follow() == (text, len(text.encode()))


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=300), cut=st.integers(0, 99))
def test_characters_stay_whole(text: str, cut: int) -> None:
    data = text.encode()
    shown, used = answers._cut(data, cut)
    assert data[:used].decode() == shown == text[:cut]


def test_bytes_that_are_no_text_are_passed_over(log: Path) -> None:
    log.write_bytes(b"a\xff\xfeb\xe2\x82")
    text, size = follow()
    assert text.startswith("a\ufffd\ufffdb")
    assert size == 6


def test_an_answer_has_as_many_hosts_as_fit() -> None:
    host = {"address": "10.0.0.1", "instance_id": "i-0123456789abcdef0", "slots": 8, "state": "x"}
    state = State("one", "horovod", "/efs/log", "", hosts=[host] * 1000)
    answer = fitting(state.answer())
    assert len(to_text(answer).encode()) <= MOST_BYTES
    assert len(answer["hosts"]) + answer["hosts_left_out"] == 1000
    assert len(answer["hosts"]) > 100


def test_a_list_says_how_many_jobs_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [
        State(f"job-{number}", "horovod", "/efs/log", "", reason="\u00e9" * 300)
        for number in range(100)
    ]
    pairs = [(RunFolder(Path("/efs/log")), state) for state in states]
    monkeypatch.setattr(jobs, "all_jobs", lambda _config: pairs)
    config: Any = None
    answer = answers.list_jobs(config, {})
    assert len(to_text(answer).encode()) <= MOST_BYTES
    assert answer["jobs"][0]["name"] == "job-99"
    assert len(answer["jobs"]) + answer["left_out"] == 100
    assert answers.list_jobs(config, {"limit": 3}).keys() == {"jobs"}
