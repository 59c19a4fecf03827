"""Tells each request to AWS as it is answered, where somebody asked for that."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

VARIABLE = "MASK_RCNN_VERBOSE"
"""`--verbose` sets it, so that processes which a command starts tell their requests too."""

_BEGAN = "mask_rcnn_began_s"


def is_wanted() -> bool:
    return os.environ.get(VARIABLE, "") not in {"", "0"}


def trace(session: Any) -> None:
    """Have every client of a botocore session tell its requests on stderr.

    Neither parameters nor answers are told: they may hold secrets.
    """
    session.register("before-call", _begin)
    session.register("after-call", _end)
    session.register("after-call-error", _fail)


def _begin(context: dict[str, Any], model: Any, **_: Any) -> None:
    context[_BEGAN] = time.monotonic(), f"{model.service_model.service_name} {model.name}"


def _end(http_response: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    about = parsed.get("ResponseMetadata", {})
    code = parsed.get("Error", {}).get("Code")
    said = [str(http_response.status_code), *([str(code)] if code else [])]
    said.append(f"request {about.get('RequestId', '?')}")
    if about.get("RetryAttempts"):
        said.append(f"after {about['RetryAttempts']} retries")
    _say(context, ", ".join(said))


def _fail(exception: Exception, context: dict[str, Any], **_: Any) -> None:
    _say(context, type(exception).__name__)


def _say(context: dict[str, Any], outcome: str) -> None:
    began_s, what = context.get(_BEGAN, (time.monotonic(), "?"))
    # Not by rich: threads tell requests at the same time, and a line is to stay one.
    sys.stderr.write(f"aws: {what}: {outcome}, {time.monotonic() - began_s:.2f} s\n")
