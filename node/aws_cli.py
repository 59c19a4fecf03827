"""AWS's own command line, which each AMI of ours has: no SDK is installed on the nodes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import NodeError

_CODE = re.compile(r"An error occurred \((\w+)\)")


class AwsError(NodeError):
    """AWS refused, or could not be reached.

    Attributes:
        code: AWS's name of the error, such as `AccessDeniedException`; empty where it said none.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def aws(
    *arguments: str,
    region: str,
    timeout_s: float = 20,
    variables: Mapping[str, str] | None = None,
) -> Any:
    """Run `aws ARGUMENTS` and return its answer, read as JSON; None where it is empty.

    Whatever is secret goes in by `file://`: everybody on a machine sees its command lines.

    Args:
        arguments: Service, operation and options.
        region: Where to ask.
        timeout_s: For the whole command.
        variables: Of its environment, on top of this process's.

    Raises:
        AwsError: It failed, answered no JSON, or took longer than `timeout_s` seconds.
    """
    options = ("--region", region, "--output", "json")
    said = output_of(*arguments, *options, timeout_s=timeout_s, variables=variables)
    if not said.strip():
        return None
    try:
        return json.loads(said)
    except ValueError as error:
        raise AwsError(f"{_name(arguments)}: answered no JSON ({error})") from error


def output_of(
    *arguments: str, timeout_s: float, variables: Mapping[str, str] | None = None
) -> bytes:
    """Run `aws ARGUMENTS` and return what it prints.

    Raises:
        AwsError: It failed, or took longer than `timeout_s` seconds.
    """
    what = _name(arguments)
    try:
        done = subprocess.run(
            ["aws", *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env={**os.environ, "AWS_PAGER": "", **(variables or {})},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AwsError(f"{what}: no answer within {timeout_s:g} s") from error
    except OSError as error:
        raise AwsError(f"{what}: cannot be started ({error.strerror})") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        code = _CODE.search(said)
        raise AwsError(
            f"{what}: {said[-500:] or f'exit code {done.returncode}'}", code[1] if code else ""
        )
    return done.stdout


def _name(arguments: Sequence[str]) -> str:
    return f"aws {' '.join(arguments[:2])}"
