"""`list --recorded`, `list --record`, and where a name that is not there was launched."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.training.jobs.test_record import job
from tests.training.jobs.test_watch import JOB
from training.aws import client
from training.aws.sts import Identity
from training.cli import run
from training.errors import UsageError
from training.jobs import everywhere, logs, status, stop
from training.jobs.__main__ import app
from training.jobs.record import Record

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Record.of({"XDG_STATE_HOME": str(tmp_path)})


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["jobs", *arguments])
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return call


def test_the_jobs_of_the_record_are_listed_without_aws(record: Record, invoke: Invoke) -> None:
    record.add(job("a", 1))
    record.add(job("b", 2, platform="eks", region=None, log=None))
    code, stdout, stderr = invoke("list", "--recorded")
    assert (code, stderr) == (0, "")
    assert [line.split() for line in stdout.splitlines()] == [
        ["NAME", "PLATFORM", "REGION", "ACCOUNT", "LAUNCHED", "LOG"],
        ["b", "eks", "-", "123456789012", "2026-01-02T02:00:00+00:00", "-"],
        [
            *("a", "sagemaker", "us-east-1", "123456789012", "2026-01-02T01:00:00+00:00"),
            "s3://bucket/log-mine",
        ],
    ]
    code, stdout, _ = invoke("list", "--recorded", "--limit", "1", "--format", "json")
    expected = [asdict(job("b", 2, platform="eks", region=None, log=None))]
    assert (code, json.loads(stdout)) == (0, {"jobs": expected})


def test_an_empty_record_says_how_it_is_filled(record: Record, invoke: Invoke) -> None:
    code, stdout, stderr = invoke("list", "--recorded")
    assert (code, stdout) == (0, "")
    assert stderr.endswith("python -m training.jobs list --platform all --record\n")


def test_damaged_lines_are_told_once(record: Record, invoke: Invoke) -> None:
    record.add(job("a"))
    with record.file.open("ab") as file:
        file.write(b"?\n{\n")
    code, stdout, stderr = invoke("list", "--recorded")
    assert (code, len(stdout.splitlines())) == (0, 2)
    assert stderr.startswith(f"{record.file}: 2 damaged line(s) left out.")
    assert len(stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_a_record_that_cannot_be_read_is_no_empty_one(
    record: Record, invoke: Invoke, options: tuple[str, ...]
) -> None:
    record.file.mkdir(parents=True)
    assert invoke("list", "--recorded", *options) == (
        2,
        "",
        f"error: {record.file}: cannot be read (Is a directory). What AWS knows, with no record: "
        "python -m training.jobs list --platform all\n",
    )


def test_where_only_a_hint_is_looked_for_a_record_that_cannot_be_read_ends_nothing(
    record: Record, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Jobs:
        def status(self, name: str) -> None:
            raise UsageError(f"{name}: is not there")

    record.file.mkdir(parents=True)
    monkeypatch.setattr(status, "load", lambda *_: Jobs())
    assert invoke("status", "a") == (
        2,
        "",
        f"The record of jobs is left out: {record.file}: cannot be read (Is a directory)\n"
        "error: a: is not there\n",
    )


def test_both_options_are_wrong_usage(record: Record, invoke: Invoke) -> None:
    code, _, stderr = invoke("list", "--recorded", "--record")
    assert code == 2
    assert "one reads the record and one fills it" in stderr


class Asked:
    """An account that says whose it is."""

    region = "us-east-1"

    class Sts:
        def identity(self) -> Identity:
            return Identity("123456789012", "arn:aws:iam::123456789012:user/me")

    sts = Sts()


def test_what_aws_tells_is_written_down(
    record: Record, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replace(
        JOB, name="mine", created=datetime(2026, 1, 2, 1, tzinfo=UTC), log="s3://bucket/log-mine"
    )

    class Jobs:
        def jobs(self, *, limit: int) -> list[Any]:
            assert limit == 20
            return [found, replace(found, name="old", created=None, log=None)]

    monkeypatch.setattr(everywhere, "load", lambda *_: Jobs())
    monkeypatch.setattr(client, "new_session", lambda: None)
    monkeypatch.setattr("training.aws.clients.Clients", lambda *_, **__: Asked())
    code, _, stderr = invoke("list", "--record")
    assert (code, stderr) == (0, "Written down: 2 more job(s).\n")
    assert record.read()[0] == [job(), job("old", created=None, log=None)]
    assert invoke("list", "--record")[2] == "Written down: 0 more job(s).\n"
    record.file.unlink()
    record.file.mkdir()
    code, stdout, stderr = invoke("list", "--record")
    assert (code, len(stdout.splitlines())) == (2, 3)
    assert stderr.startswith(f"error: nothing is written down: {record.file}: cannot be ")


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_a_name_that_is_not_there_is_told_where_it_was_launched(
    record: Record, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    class Jobs:
        def status(self, name: str) -> None:
            raise UsageError(f"{name}: is not there")

        def show(self, name: str, _: Any) -> None:
            self.status(name)

        stop = status

    for module in (status, logs, stop):
        monkeypatch.setattr(module, "load", lambda *_: Jobs())
    assert invoke(command, "mine")[2] == "error: mine: is not there\n"
    record.add(job("mine", platform="ec2", region="eu-west-1"))
    code, stdout, stderr = invoke(command, "mine")
    assert (code, stdout) == (2, "")
    assert stderr == (
        "error: mine: is not there. From this machine, mine was launched on platform ec2, "
        "eu-west-1, account 123456789012: try --platform ec2, with that account's profile\n"
    )
    record.file.unlink()
    record.add(job("mine"))
    assert "try AWS_REGION=us-east-1" in invoke(command, "mine")[2]
