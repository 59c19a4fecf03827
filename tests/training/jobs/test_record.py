"""The record of jobs that were launched from this machine."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from training.jobs import record as module
from training.jobs.record import Record, Recorded, RecordTrouble

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.of({"XDG_STATE_HOME": str(tmp_path)})


def job(name: str = "mine", hour: int = 1, **changes: Any) -> Recorded:
    values: dict[str, Any] = {
        "name": name,
        "platform": "sagemaker",
        "region": "us-east-1",
        "account": "123456789012",
        "created": f"2026-01-02T{hour:02}:00:00+00:00",
        "log": "s3://bucket/log-mine",
    }
    return Recorded(**{**values, **changes})


def names(record: Record) -> list[str]:
    return [each.name for each in record.read()[0]]


def test_it_is_in_the_users_state_folder(tmp_path: Path) -> None:
    told = Record.of({"XDG_STATE_HOME": str(tmp_path), "HOME": "/home/me"}).file
    assert told == tmp_path / "distributed-mask-rcnn" / "jobs.jsonl"
    at_home = Record.of({"HOME": "/home/me"}).file
    assert at_home == Path("/home/me/.local/state/distributed-mask-rcnn/jobs.jsonl")
    with pytest.raises(RecordTrouble, match="neither XDG_STATE_HOME nor HOME"):
        Record.of({})


def test_jobs_come_back_as_they_were_newest_first(record: Record) -> None:
    assert record.read() == ([], 0)
    first, second = job("a", 1), job("b", 2, region=None, log=None)
    record.add(first)
    record.add(second)
    assert record.read() == ([second, first], 0)


def test_of_two_launches_of_one_job_the_last_counts(record: Record) -> None:
    record.add(job(hour=1))
    record.add(job(hour=2))
    record.add(job(hour=3, platform="ec2"))
    assert record.read()[0] == [job(hour=3, platform="ec2"), job(hour=2)]


@pytest.mark.parametrize(
    "damage",
    [b'{"name": "mi', b"\xff\xfe", b"[1]", b"null", b'{"platform": "ec2"}', b'{"name": 1}'],
)
def test_a_damaged_line_is_counted_and_takes_no_other_with_it(
    record: Record, damage: bytes
) -> None:
    record.add(job("a"))
    with record.file.open("ab") as file:
        file.write(damage)  # Without an end, as after a crash.
    record.add(job("b", 2))
    jobs, damaged = record.read()
    assert ([each.name for each in jobs], damaged) == (["b", "a"], 1)


def test_a_line_of_another_version_is_read_as_far_as_it_goes(record: Record) -> None:
    record.add(job("a"))
    record.file.write_bytes(b'{"name": "b", "platform": "eks", "colour": "red"}\n')
    (found,) = record.read()[0]
    assert (found.name, found.platform, found.region) == ("b", "eks", None)


def test_what_is_missing_is_added_and_what_is_damaged_goes(record: Record) -> None:
    record.add(job("a", 2))
    with record.file.open("ab") as file:
        file.write(b"?\n")
    assert record.add_missing([job("a", 5), job("b", 1), job("b", 1)]) == 1
    assert record.read() == ([job("a", 2), job("b", 1)], 0)
    assert [each.name for each in record.file.parent.iterdir() if "tmp" in each.name] == []


def test_it_is_rebuilt_where_it_is_gone(record: Record) -> None:
    assert record.add_missing([job("a")]) == 1
    assert names(record) == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_without_the_right_to_read_it_is_told(record: Record) -> None:
    record.add(job())
    record.file.chmod(0)
    with pytest.raises(RecordTrouble, match="cannot be read"):
        record.read()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    record = Record.of({"XDG_STATE_HOME": str(tmp_path / "file")})
    with pytest.raises(RecordTrouble, match="cannot be"):
        record.add(job())


def test_a_folder_in_its_place_is_told(record: Record) -> None:
    record.file.mkdir(parents=True)
    for use in (record.read, lambda: record.add(job()), lambda: record.add_missing([job()])):
        with pytest.raises(RecordTrouble, match=r"jobs\.jsonl: cannot be"):
            use()


def test_who_holds_the_lock_for_ever_stops_nobody(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOCK_WAIT_S", 0.05)
    record.add(job("a"))
    with record.file.with_suffix(".lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RecordTrouble, match="cannot be written"):
            record.add(job("b"))
        assert names(record) == ["a"]
    record.add(job("b", 2))
    assert names(record) == ["b", "a"]


SCRIPT = """
import sys
from pathlib import Path
from training.jobs.record import Record, Recorded
record = Record(Path(sys.argv[1]))
for number in range(40):
    each = Recorded(name=f"{sys.argv[2]}-{number}", platform="ec2", region=None, account=None,
        created=None, log=None)
    record.add_missing([each]) if number % 4 == 0 else record.add(each)
"""


def test_launches_at_once_lose_no_line(record: Record) -> None:
    """Some of them write the whole file anew."""
    writers = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(record.file), name], cwd=ROOT)
        for name in "abc"
    ]
    assert [each.wait(60) for each in writers] == [0, 0, 0]
    jobs, damaged = record.read()
    assert {each.name for each in jobs} == {f"{w}-{n}" for w in "abc" for n in range(40)}
    assert (len(jobs), damaged) == (120, 0)


def test_threads_at_once_lose_no_line_either(record: Record) -> None:
    threads = [
        threading.Thread(target=record.add, args=(job(f"job-{number}"),)) for number in range(20)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(names(record)) == {f"job-{number}" for number in range(20)}
