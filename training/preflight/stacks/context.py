"""The context of a deploy, as the CDK CLI would put it together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from training.errors import UsageError
from training.redaction import redacted


def read_context(project: Path, home: Path, assignments: Iterable[str]) -> dict[str, Any]:
    """Return all context keys to their values.

    The files are the CLI's, the strongest last; what is given on the command line is above them.
    https://docs.aws.amazon.com/cdk/v2/guide/context.html

    Args:
        project: The folder of cdk.json.
        home: The user's, which may have a .cdk.json.
        assignments: `key=value`, as after `-c`.

    Raises:
        UsageError: A file cannot be read, or an assignment is none.
    """
    context: dict[str, Any] = _section(_read(home / ".cdk.json"), home / ".cdk.json")
    context |= _read(project / "cdk.context.json")
    context |= _section(_read(project / "cdk.json"), project / "cdk.json")
    for assignment in assignments:
        key, separator, value = assignment.partition("=")
        if not separator or not key:
            raise UsageError(f"-c {redacted(assignment)}: not of the form key=value")
        context[key] = value
    return context


def _read(path: Path) -> dict[str, Any]:
    """Return a file's object; an absent one is empty."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: expected a JSON object")
    return content


def _section(content: dict[str, Any], path: Path) -> dict[str, Any]:
    context = content.get("context", {})
    if not isinstance(context, dict):
        raise UsageError(f"{path}: context is no JSON object")
    return context
