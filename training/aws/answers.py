"""Tells AWS's answers from those of a proxy, a captive portal or another server in between.

botocore trusts what it is answered: of a login page it makes an answer without any member, or it
stumbles over it with whatever exception Python has for that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.parsers import ResponseParserFactory

from training.aws.errors import FOREIGN, ForeignAnswer

FIRST_REDIRECT, FIRST_REFUSAL, FIRST_FAULT = 300, 400, 500
"""HTTP statuses; a fault is one of whoever answers."""


class WaryParserFactory(ResponseParserFactory):
    """Makes botocore's parsers, each behind one that judges what it made of an answer."""

    def create_parser(self, protocol_name: str) -> Any:
        return _WaryParser(super().create_parser(protocol_name))


class _WaryParser:
    """A parser that knows when an answer is not of AWS."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def parse(self, response: Mapping[str, Any], shape: Any) -> dict[str, Any]:
        """Return the answer as its model says.

        Raises:
            ForeignAnswer: It is not of AWS. From the status 500 on it becomes an error of the code
                `FOREIGN` instead, and botocore repeats the request: gateways before AWS, too, tell
                of a bad moment in words of their own.
        """
        try:
            parsed: Any = self._parser.parse(response, shape)
        except Exception as error:
            # Nothing but an answer goes into a parser: whatever it stumbles over is in there.
            return _foreign(response, error)
        if not isinstance(parsed, dict):
            # Of JSON's null, botocore makes no answer at all.
            return _foreign(response, None)
        # The fields of a known error are read apart, and have no metadata.
        if _is_error(shape) or (
            _is_of_aws(parsed, response) and _is_whole(parsed, response, shape)
        ):
            return dict(parsed)
        return _foreign(response, None)


def _is_error(shape: Any) -> bool:
    return shape is not None and bool(shape.metadata.get("exception"))


def _is_of_aws(parsed: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Return whether an answer has a request id, as AWS's have, or else says what only it would."""
    status = response["status_code"]
    if parsed.get("ResponseMetadata", {}).get("RequestId"):
        return True
    if status < FIRST_REDIRECT:
        return bool(parsed.keys() - {"ResponseMetadata"})
    # A HEAD request is refused without a word, and a local AWS leaves the request id out there.
    if status >= FIRST_REFUSAL and response["context"]["operation_name"].startswith("Head"):
        return True
    # botocore takes the status where there is no code.
    return parsed.get("Error", {}).get("Code") not in (None, "", str(status))


def _is_whole(parsed: Mapping[str, Any], response: Mapping[str, Any], shape: Any) -> bool:
    """Return whether an answer has what it must have.

    Of a text that is no JSON, as one that was cut off, botocore makes an answer without members.
    """
    if parsed.keys() - {"ResponseMetadata"} or response["status_code"] >= FIRST_REDIRECT:
        return True
    if shape is not None and getattr(shape, "required_members", None):
        return False
    return not response["body"] or not _claims_json(response) or _is_json(response["body"])


def _claims_json(response: Mapping[str, Any]) -> bool:
    return "json" in response["headers"].get("content-type", "")


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def _foreign(response: Mapping[str, Any], cause: Exception | None) -> dict[str, Any]:
    status, headers = response["status_code"], response["headers"]
    kind = headers.get("content-type", "").partition(";")[0]
    answer = f"HTTP {status}, {kind}" if kind else f"HTTP {status}"
    operation = response["context"]["operation_name"]
    if status < FIRST_FAULT:
        raise ForeignAnswer(operation, answer) from cause
    return {
        "Error": {"Code": FOREIGN, "Message": answer},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": dict(headers)},
    }
