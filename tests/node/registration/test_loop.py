"""What keeps a node in the register."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from node import paths, registrations
from node.registration.loop import Loop, remove_old
from node.registrations import read_all
from tests.node.test_registrations import ID, NODE


@pytest.fixture
def leaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "LEAVING", tmp_path / "leaving")
    return tmp_path / "leaving"


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def run_beside(loop: Loop, watch: Callable[[], None], *, every_s: float) -> None:
    """Run the loop here, where signals come, and what watches it beside; then end it."""
    problems: list[BaseException] = []

    def beside() -> None:
        try:
            watch()
        except BaseException as problem:
            problems.append(problem)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=beside)
    thread.start()
    loop.run(every_s=every_s)
    thread.join()
    if problems:
        raise problems[0]


def until(condition: Callable[[], Any], *, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def states(folder: Path) -> list[tuple[str, str]]:
    return [(one.state, one.reason) for one in read_all(folder)[0]]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_it_stays_fresh_and_says_within_seconds_that_it_leaves(
    tmp_path: Path, leaving: Path
) -> None:
    folder = tmp_path / "nodes"

    def watch() -> None:
        until(lambda: states(folder) == [("ready", "")], within_s=60)
        [first] = read_all(folder)[0]
        assert first == replace(NODE, time=first.time)
        until(lambda: read_all(folder)[0][0].time > first.time, within_s=60)
        leaving.write_text(json.dumps({"reason": "spot interruption", "time": 1}))
        until(lambda: states(folder) == [("leaving", "spot interruption")], within_s=20)

    run_beside(Loop(folder, NODE), watch, every_s=0.5)
    assert states(folder) == [("leaving", "spot interruption")]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_stopped_service_says_that_its_node_leaves(tmp_path: Path, leaving: Path) -> None:
    folder = tmp_path / "nodes"
    run_beside(
        Loop(folder, NODE),
        lambda: until(lambda: states(folder) == [("ready", "")], within_s=60),
        every_s=60,
    )
    assert states(folder) == [("leaving", "its register service was stopped")]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_it_survives_efs_being_away(
    tmp_path: Path, leaving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write hangs, as on a hard mount; then the folder is a file; then all is well again."""
    folder = tmp_path / "nodes"
    away = tmp_path / "away"
    away.touch()
    write = registrations.write
    said: list[str] = []

    def write_if_there(*arguments: Any) -> None:
        while away.exists():
            time.sleep(0.02)
        write(*arguments)

    monkeypatch.setattr("node.registration.loop.registrations.write", write_if_there)
    monkeypatch.setattr("node.registration.loop._WRITE_S", 2)
    monkeypatch.setattr("node.registration.loop._say", said.append)
    folder.write_text("")

    def watch() -> None:
        until(lambda: len(said) == 1, within_s=60)
        away.unlink()
        until(lambda: len(said) == 2, within_s=60)
        folder.unlink()
        until(lambda: states(folder) == [("ready", "")], within_s=60)

    run_beside(Loop(folder, NODE), watch, every_s=0.1)
    assert [line.split(": ", 1)[1] for line in said] == [
        "the file system does not answer (waited for 2 s)",
        f"[Errno 17] File exists: '{folder}'",
        "can be written again",
    ]


def test_the_head_removes_what_has_been_gone_for_a_day(tmp_path: Path) -> None:
    registrations.write(tmp_path, NODE)
    old = tmp_path / "i-00000001.json"
    old.write_text("{}")
    os.utime(old, (time.time() - 90000, time.time() - 90000))
    remove_old(tmp_path, now=time.time())
    assert [file.name for file in tmp_path.iterdir()] == [f"{ID}.json"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
@pytest.mark.parametrize(("role", "is_left"), [("head", False), ("worker", True)])
def test_only_the_head_cleans_the_register(
    role: str, is_left: bool, tmp_path: Path, leaving: Path
) -> None:
    old = tmp_path / "nodes" / "i-00000001.json"
    old.parent.mkdir()
    old.write_text("{}")
    os.utime(old, (time.time() - 90000, time.time() - 90000))
    run_beside(
        Loop(tmp_path / "nodes", replace(NODE, role=role)),
        lambda: until(lambda: states(tmp_path / "nodes") == [("ready", "")], within_s=60),
        every_s=60,
    )
    assert old.exists() is is_left
