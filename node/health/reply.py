"""Puts a report into the characters that Systems Manager gives back."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

MOST = 23_000
"""Characters. Of a command's output GetCommandInvocation gives 24,000:
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html"""


def fit(report: dict[str, Any], *, most: int = MOST) -> dict[str, Any]:
    """Return a report as it is; or packed where it is too long, at last with less in it.

    A packed one is `{"packed": text}`: base64 of zlib of its JSON. Where that is too long too, what
    is well is left out, then all nodes that are, then the ends of messages; `left_out` tells what.
    """
    if _length(report) <= most:
        return report
    for shorten in (_whole, _without_ok, _without_well, _with_short_messages):
        report = shorten(report)
        packed = {"packed": base64.b64encode(zlib.compress(_text(report), 9)).decode("ascii")}
        if _length(packed) <= most:
            return packed
    raise ValueError(f"{len(report['hosts'])} nodes: their report does not fit {most} characters")


def _whole(report: dict[str, Any]) -> dict[str, Any]:
    return report


def _without_ok(report: dict[str, Any]) -> dict[str, Any]:
    hosts = [
        {**host, "checks": [check for check in host["checks"] if check["status"] != "ok"]}
        for host in report["hosts"]
    ]
    return {**report, "hosts": hosts, "left_out": "checks that are ok"}


def _without_well(report: dict[str, Any]) -> dict[str, Any]:
    bad = [host for host in report["hosts"] if host["checks"]]
    well = len(report["hosts"]) - len(bad)
    return {**report, "hosts": bad, "left_out": f"{well} nodes that are well"}


def _with_short_messages(report: dict[str, Any]) -> dict[str, Any]:
    hosts = [
        {
            **host,
            "checks": [
                {**check, "message": check["message"][:60], "value": None}
                for check in host["checks"]
            ],
        }
        for host in report["hosts"]
    ]
    return {**report, "hosts": hosts, "left_out": report["left_out"] + ", ends of messages"}


def _text(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _length(value: dict[str, Any]) -> int:
    # As it is printed, with a blank after each colon and comma.
    return len(json.dumps(value))
