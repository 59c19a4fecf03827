"""A report in the characters that Systems Manager gives back."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import pytest

from node.health.reply import MOST, fit

NAMES = ("registered", "ssh", "clock", "efs", "fsx", "gpus", "driver", "ecc", "xid", "efa")
NAMES += ("disk", "scratch", "memory", "runtime", "chrony", "uptime")


def report(nodes: int, *, failing: int = 0, message: int = 150) -> dict[str, Any]:
    """Return nodes as they are, `failing` of them with three messages that nobody else has."""
    hosts = []
    for number in range(nodes):
        name = hashlib.sha256(str(number).encode()).hexdigest()
        checks: list[dict[str, Any]] = [
            {"name": each, "status": "ok", "value": f"{name[:4]} ms", "message": ""}
            for each in NAMES
        ]
        if number < failing:
            for place in (3, 5, 7):
                words = hashlib.sha512(f"{number} {place}".encode()).hexdigest()
                checks[place] |= {"status": "failed", "message": (words * 3)[:message]}
        address = f"10.0.{number // 250}.{number % 250}"
        hosts.append(
            {"instance_id": f"i-{name[:17]}", "address": address, "role": "worker"}
            | {"checks": checks}
        )
    return {"hosts": hosts, "all_reduce": None, "busy": None}


def unpack(reply: dict[str, Any]) -> dict[str, Any]:
    assert len(json.dumps(reply)) <= MOST
    if "packed" not in reply:
        return reply
    unpacked: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(reply["packed"])))
    return unpacked


def test_a_small_cluster_is_told_in_plain_text() -> None:
    small = report(16, failing=1)
    assert fit(small) == small


@pytest.mark.parametrize("failing", [0, 64])
def test_64_nodes_are_told_whole(failing: int) -> None:
    """Messages are words in truth, and pack better than these."""
    large = report(64, failing=failing, message=90)
    assert unpack(fit(large)) == large


def test_of_more_nodes_what_is_not_well_is_told_whole() -> None:
    many = report(1000, failing=30)
    told = unpack(fit(many))
    assert told["left_out"] == "970 nodes that are well"
    assert [host["instance_id"] for host in told["hosts"]] == [
        host["instance_id"] for host in many["hosts"][:30]
    ]
    assert told["hosts"][0]["checks"] == [
        check for check in many["hosts"][0]["checks"] if check["status"] != "ok"
    ]


def test_at_last_messages_are_cut() -> None:
    told = unpack(fit(report(90, failing=90, message=240)))
    assert "ends of messages" in told["left_out"]
    assert len(told["hosts"]) == 90
    assert {len(check["message"]) for host in told["hosts"] for check in host["checks"]} == {60}
