"""What a document of Run Command runs, once its parameters are filled in.

https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.ssm.exceptions import SSMException

SHELL = "aws:runShellScript"

DEFAULT_S = 3600
"""How long a step may take where it says nothing."""

RUN_SHELL_SCRIPT: dict[str, Any] = {
    "schemaVersion": "2.2",
    "parameters": {
        "commands": {"type": "StringList"},
        "workingDirectory": {"type": "String", "default": ""},
        "executionTimeout": {"type": "String", "default": "3600"},
    },
    "mainSteps": [
        {
            "action": SHELL,
            "name": "runShellScript",
            "inputs": {
                "runCommand": "{{ commands }}",
                "workingDirectory": "{{ workingDirectory }}",
                "timeoutSeconds": "{{ executionTimeout }}",
            },
        }
    ],
}
"""AWS-RunShellScript, which each account has."""

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")

Values = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Script:
    """What is to run on a node."""

    text: str
    timeout_s: float
    folder: str = "/"


class InvalidParameters(SSMException):
    """A parameter is missing, unknown, or has a value that the document does not allow."""

    def __init__(self, message: str) -> None:
        super().__init__("InvalidParameters", message)


class InvalidDocument(SSMException):
    """The document cannot be run here."""

    def __init__(self, message: str) -> None:
        super().__init__("InvalidDocument", message)


def script(content: Mapping[str, Any], given: Values) -> Script:
    """Return what a document runs.

    Raises:
        InvalidParameters: The document does not allow them.
        InvalidDocument: It does something else than to run a shell script.
    """
    values = _values(content.get("parameters") or {}, given)
    steps = content.get("mainSteps") or []
    if len(steps) != 1 or steps[0].get("action") != SHELL:
        raise InvalidDocument(f"Local AWS runs documents with one step, {SHELL}, and no other")
    inputs = steps[0]["inputs"]
    lines = inputs["runCommand"]
    if isinstance(lines, str):
        # A whole list, as AWS-RunShellScript has it.
        name = _PLACE.fullmatch(lines.strip())
        lines = values[name[1]] if name else [lines]
    filled = [_filled(line, values) for line in lines]
    timeout = _filled(str(inputs.get("timeoutSeconds") or DEFAULT_S), values)
    folder = _filled(str(inputs.get("workingDirectory") or ""), values) or "/"
    return Script("\n".join(filled) + "\n", float(timeout), folder)


def _values(parameters: Mapping[str, Any], given: Values) -> dict[str, list[str]]:
    for name in given:
        if name not in parameters:
            raise InvalidParameters(f"Parameter {name} is not defined in the document")
    found: dict[str, list[str]] = {}
    for name, allowed in parameters.items():
        if name in given:
            found[name] = list(given[name])
            _check(name, allowed, found[name])
        elif "default" in allowed:
            default = allowed["default"]
            found[name] = default if isinstance(default, list) else [str(default)]
        else:
            raise InvalidParameters(f"Parameter {name} is missing and has no default")
    return found


def _check(name: str, allowed: Mapping[str, Any], values: Sequence[str]) -> None:
    if allowed.get("type") == "String" and len(values) != 1:
        raise InvalidParameters(f"Parameter {name} takes one value, not {len(values)}")
    for value in values:
        if "allowedValues" in allowed and value not in allowed["allowedValues"]:
            raise InvalidParameters(
                f"Parameter {name}: {value[:100]!r} is none of {allowed['allowedValues']}"
            )
        pattern = allowed.get("allowedPattern")
        if pattern and not re.fullmatch(pattern, value):
            raise InvalidParameters(
                f"Parameter {name}: {value[:100]!r} does not match the pattern {pattern}"
            )


def _filled(text: str, values: Mapping[str, Sequence[str]]) -> str:
    def value(place: re.Match[str]) -> str:
        if place[1] not in values:
            # Left as it is, as the agent does with what is no parameter.
            return place[0]
        return " ".join(values[place[1]])

    return _PLACE.sub(value, text)
