"""`mask-rcnn-node ACTION [BASE64]`: which part of the project answers which action.

BASE64 is the request, a JSON object in UTF-8; `-` reads it from stdin. The answer is one JSON
object on stdout; a refusal is `{"error": {"kind", "message"}}` and exit code 1.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import UsageError

LONGEST_REQUEST = 60000
"""Characters of base64, as the SSM document allows."""


def _conductor(action: str, rest: Sequence[str]) -> int:
    from .conductor.actions import main

    return int(main([action, *rest]) or 0)


def _health(_action: str, rest: Sequence[str]) -> int:
    from .health.answer import answer

    return _reply(answer(decode(rest[0]) if rest else {}))


def _replace(_action: str, rest: Sequence[str]) -> int:
    from .health.answer import replace

    return _reply(replace(decode(rest[0]) if rest else {}))


ACTIONS: Mapping[str, Callable[[str, Sequence[str]], int]] = {
    "submit": _conductor,
    "status": _conductor,
    "list": _conductor,
    "logs": _conductor,
    "stop": _conductor,
    "health": _health,
    "replace": _replace,
    # Between the nodes, not for users.
    "resume": _conductor,
    "conduct": _conductor,
    "host-run": _conductor,
    "host-leave": _conductor,
}


def main(arguments: Sequence[str]) -> int:
    try:
        return _dispatch(list(arguments))
    except Exception as error:
        kind = getattr(error, "kind", None)
        if not isinstance(kind, str):
            kind = "failed"
            # A fault of ours: where it is goes to the journal, what it is to the caller.
            import traceback

            traceback.print_exc()
        _print({"error": {"kind": kind, "message": str(error) or type(error).__name__}})
        return 1


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in ACTIONS:
        given = arguments[0] if arguments else "nothing"
        raise UsageError(f"action: is {given[:80]}, wanted one of {', '.join(ACTIONS)}")
    action, *rest = arguments
    if rest == ["-"]:
        rest = [sys.stdin.read(LONGEST_REQUEST + 2).strip()]
    if rest and len(rest[0]) > LONGEST_REQUEST:
        raise UsageError(f"request: longer than {LONGEST_REQUEST} characters of base64")
    # SSM passes an empty Request where there is none.
    return ACTIONS[action](action, [one for one in rest if one])


def decode(text: str) -> dict[str, Any]:
    """Read a request.

    Raises:
        UsageError: It is no base64 of a JSON object.
    """
    try:
        value = json.loads(base64.b64decode(text, validate=True).decode("utf-8"))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise UsageError(f"request: is no base64 of JSON ({error})") from error
    if not isinstance(value, dict):
        raise UsageError(f"request: is {type(value).__name__}, wanted an object")
    return value


def _reply(answer: Mapping[str, Any]) -> int:
    _print(answer)
    return 1 if "error" in answer else 0


def _print(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
