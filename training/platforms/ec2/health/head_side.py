"""What the head node says of all nodes: asks it, and reads its answer."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.errors import AwsError
from training.instances import known_instance
from training.outputs import ClusterOutputs
from training.platforms.ec2.health.aws_side import AwsNode
from training.platforms.ec2.health.check import NodeCheck

LONGEST_ANSWER = 64 << 20
"""Bytes of an answer that was packed: far more than the largest cluster's."""


@dataclass(frozen=True)
class HeadSide:
    """Its answer."""

    checks: Mapping[str, Sequence[NodeCheck]]
    """Of each node, by instance id."""
    all_reduce: Mapping[str, Any] | None
    """`status` ok, failed or skipped, with a `message` or with what was measured."""
    job: Mapping[str, Any] | None
    """The one that runs."""
    left_out: str | None = None
    """What of it did not fit into an answer."""


def request(
    cluster: ClusterOutputs,
    nodes: Sequence[AwsNode],
    *,
    all_reduce: bool,
    image: str | None,
    timeout_s: float,
) -> dict[str, Any]:
    """Return what the head is asked: node/health/request.py reads it."""
    types = {"head": cluster.head_instance_type, "worker": cluster.worker_instance_type}
    known = {role: known_instance(name) for role, name in types.items()}
    return {
        "all_reduce": all_reduce,
        "timeout_s": timeout_s,
        "gpus": {role: found.gpus if found else 0 for role, found in known.items()},
        # As many as they were started with, which is for the stack's settings to say.
        "efa_interfaces": {
            role: max((each.efa_interfaces for each in nodes if each.role == role), default=0)
            for role in types
        },
        "image": image,
    }


def read(answer: Mapping[str, Any]) -> HeadSide:
    """Read the answer.

    Raises:
        AwsError: It is not as it must be: the nodes have another version of the program.
    """
    try:
        found = _unpacked(answer)
        return HeadSide(
            {
                host["instance_id"]: tuple(NodeCheck.read(each) for each in host["checks"])
                for host in found["hosts"]
            },
            found.get("all_reduce"),
            found.get("busy"),
            found.get("left_out"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise AwsError(
            f"the head node's answer to health cannot be read ({error!r}): its program is of "
            "another version. Deploy ClusterStack again"
        ) from error


def _unpacked(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if "packed" not in answer:
        return answer
    packed = zlib.decompressobj()
    text = packed.decompress(base64.b64decode(answer["packed"]), LONGEST_ANSWER)
    found: Mapping[str, Any] = json.loads(text)
    return found
