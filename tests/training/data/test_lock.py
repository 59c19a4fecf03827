from __future__ import annotations

import errno
import fcntl
import shutil
import threading
import time
from pathlib import Path

import pytest

from training.data import lock
from training.data.lock import Held, hold, hold_at_once
from training.data.progress import SILENT
from training.errors import JobFailed


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_POLL_S", 0.01)
    monkeypatch.setattr(lock, "_NOTE_EVERY_S", 0.0)
    monkeypatch.setattr(lock, "_TELL_EVERY_S", 0.05)


def in_thread(target: object) -> threading.Thread:
    thread = threading.Thread(target=target)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_the_second_waits_for_the_first_and_is_told_how_far_it_is(tmp_path: Path) -> None:
    order: list[str] = []
    told: list[str] = []

    def second() -> None:
        with hold(tmp_path, "the place", told.append) as held:
            order.append(f"second, waited {held.waited}")

    with hold(tmp_path, "the place", told.append) as held:
        waiting = in_thread(second)
        held.seeing(SILENT).advance(2_500_000)
        time.sleep(0.3)
        order.append(f"first, waited {held.waited}")
    waiting.join(10)
    assert order == ["first, waited False", "second, waited True"]
    assert told[-1].startswith("the place: waiting for another copy into this folder (process ")
    assert told[-1].endswith(", 2.5 MB so far)")


def test_of_many_only_one_holds_it_at_a_time_though_each_removes_the_folder(
    tmp_path: Path,
) -> None:
    folder = tmp_path / ".partial"
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(5):
            with hold(folder, "x", lambda _: None):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.001)
                inside[0] -= 1
                shutil.rmtree(folder)

    threads = [in_thread(work) for _ in range(6)]
    for thread in threads:
        thread.join(30)
    assert most == [1]


def test_a_copy_that_gets_nothing_done_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "STALLED_S", 0.2)
    with (
        hold(tmp_path, "x", print),
        pytest.raises(JobFailed, match=r"x: another copy .*process \d+ .* has got nothing done"),
        hold(tmp_path, "x", lambda _: None),
    ):
        pass


def test_a_lustre_without_locks_is_written_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with hold(tmp_path, "x", print) as first, hold(tmp_path, "x", print) as second:
        assert (first.waited, second.waited) == (False, False)


def test_whoever_does_not_wait_is_told_that_it_is_held(tmp_path: Path) -> None:
    with hold(tmp_path, "x", print), pytest.raises(Held), hold_at_once(tmp_path):
        pass
    with hold_at_once(tmp_path) as held, pytest.raises(Held), hold_at_once(tmp_path):
        pass
    assert not held.waited
