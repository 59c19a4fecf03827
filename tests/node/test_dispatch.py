"""`mask-rcnn-node`: which part answers, and what a refusal looks like."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node import dispatch
from node.errors import NodeError, UsageError
from tests.node.setup.host import PROJECT


def encoded(value: Any) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    calls: list[tuple[str, list[str]]] = []

    def answer(action: str, rest: Sequence[str]) -> int:
        calls.append((action, list(rest)))
        return 0

    monkeypatch.setattr(dispatch, "ACTIONS", {"status": answer})
    return calls


def error_of(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    [line] = capsys.readouterr().out.splitlines()
    error: dict[str, str] = json.loads(line)["error"]
    return error


def test_a_request_goes_to_the_part_that_answers(asked: list[tuple[str, list[str]]]) -> None:
    assert dispatch.main(["status", "e30="]) == 0
    assert dispatch.main(["status", ""]) == 0  # SSM's empty Request
    assert asked == [("status", ["e30="]), ("status", [])]


def test_a_dash_reads_the_request_from_stdin(
    asked: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("e30=\n"))
    assert dispatch.main(["status", "-"]) == 0
    assert asked == [("status", ["e30="])]


@pytest.mark.parametrize("arguments", [[], ["reboot"], ["status", "A" * 60001]])
def test_what_there_is_not_is_refused(
    arguments: list[str],
    asked: list[tuple[str, list[str]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dispatch.main(arguments) == 1
    assert error_of(capsys)["kind"] == "usage"
    assert asked == []


class Busy(Exception):
    kind = "busy"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Busy("vision-1 runs"), {"kind": "busy", "message": "vision-1 runs"}),
        (NodeError("no EFS"), {"kind": "failed", "message": "no EFS"}),
        (KeyError("x"), {"kind": "failed", "message": "'x'"}),
    ],
)
def test_an_error_is_an_object_on_stdout(
    error: Exception,
    expected: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: Any) -> int:
        raise error

    monkeypatch.setattr(dispatch, "ACTIONS", {"list": refuse})
    assert dispatch.main(["list"]) == 1
    assert error_of(capsys) == expected


def test_the_actions_of_the_ssm_document_are_there() -> None:
    wanted = {"submit", "status", "list", "logs", "stop", "health", "replace"}
    assert wanted <= set(dispatch.ACTIONS)


@given(value=st.dictionaries(st.text(), st.integers() | st.text()))
def test_a_request_is_read_as_it_was_written(value: dict[str, Any]) -> None:
    assert dispatch.decode(encoded(value)) == value


@given(text=st.text(max_size=200))
def test_any_other_text_is_refused(text: str) -> None:
    try:
        assert isinstance(dispatch.decode(text), dict)
    except UsageError as error:
        assert str(error).startswith("request: is ")


@pytest.mark.parametrize("value", [[1], "text", None])
def test_a_request_is_an_object(value: Any) -> None:
    with pytest.raises(UsageError, match="wanted an object"):
        dispatch.decode(encoded(value))


def test_the_program_runs_from_anywhere_and_shadows_no_module() -> None:
    done = subprocess.run(
        [sys.executable, PROJECT / "node" / "mask-rcnn-node", "reboot"],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["message"].startswith(
        "action: is reboot, wanted one of"
    )
    assert done.stderr == ""
