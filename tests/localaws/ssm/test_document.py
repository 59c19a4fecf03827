"""Documents of Run Command: what they run, and which parameters they take."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.ssm.exceptions import SSMException

from localaws.ssm.document import RUN_SHELL_SCRIPT, Script, script

PATTERN = "^[A-Za-z0-9+/=]{0,20}$"


def content(*lines: str, **inputs: Any) -> dict[str, Any]:
    parameters = {
        "Action": {"type": "String", "allowedValues": ["list", "stop"]},
        "Request": {"type": "String", "default": "", "allowedPattern": PATTERN},
    }
    step = {
        "action": "aws:runShellScript",
        "name": "run",
        "inputs": {"runCommand": list(lines), **inputs},
    }
    return {"schemaVersion": "2.2", "parameters": parameters, "mainSteps": [step]}


def test_fills_parameters_in_with_and_without_blanks() -> None:
    found = script(content("a {{ Action }} {{Request}}", timeoutSeconds="60"), {"Action": ["list"]})
    assert found == Script("a list \n", 60.0)


def test_leaves_what_is_no_parameter() -> None:
    found = script(content("echo {{ Other }}"), {"Action": ["stop"]})
    assert found == Script("echo {{ Other }}\n", 3600.0)


def test_run_shell_script_takes_a_list_of_lines() -> None:
    lines = {"commands": ["one", "two"], "executionTimeout": ["5"], "workingDirectory": ["/tmp"]}
    assert script(RUN_SHELL_SCRIPT, lines) == Script("one\ntwo\n", 5.0, "/tmp")


@pytest.mark.parametrize(
    ("given_values", "says"),
    [
        ({}, "Parameter Action is missing"),
        ({"Action": ["list"], "More": [""]}, "Parameter More is not defined"),
        ({"Action": ["remove"]}, "'remove' is none of"),
        ({"Action": ["list", "stop"]}, "takes one value, not 2"),
        ({"Action": ["list"], "Request": ["a b"]}, "does not match the pattern"),
    ],
)
def test_refuses_what_is_not_allowed(given_values: dict[str, list[str]], says: str) -> None:
    with pytest.raises(SSMException) as refused:
        script(content("x"), given_values)
    assert refused.value.code == "InvalidParameters"
    assert says in refused.value.message


def test_refuses_a_document_that_does_something_else() -> None:
    other = {"mainSteps": [{"action": "aws:downloadContent", "name": "x", "inputs": {}}]}
    with pytest.raises(SSMException, match="one step, aws:runShellScript"):
        script(other, {})


@given(st.text(max_size=30))
def test_only_what_the_pattern_allows_reaches_the_line(text: str) -> None:
    try:
        found = script(content("run {{ Request }}"), {"Action": ["list"], "Request": [text]})
    except SSMException:
        return
    assert set(found.text.removeprefix("run ").removesuffix("\n")) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    )
