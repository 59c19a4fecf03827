"""What the head is asked, and its answer, as the program on the nodes reads and writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from node.health.reply import fit
from node.health.request import HealthRequest
from tests.training.platforms.ec2.health.pieces import aws_node, cluster, host, said
from training.errors import AwsError
from training.platforms.ec2.health.check import NodeCheck
from training.platforms.ec2.health.head_side import read, request


def asked(**changed: Any) -> dict[str, Any]:
    return request(
        cluster(**changed),
        [aws_node(), aws_node("i-2", role="head")],
        all_reduce=True,
        image="registry/image:tag",
        timeout_s=300,
    )


def test_the_nodes_take_what_is_asked() -> None:
    taken = HealthRequest.read(json.loads(json.dumps(asked())))
    assert taken.gpus == {"head": 0, "worker": 8}
    assert taken.efa_interfaces == {"head": 4, "worker": 4}
    assert (taken.image, taken.timeout_s) == ("registry/image:tag", 300)


def test_a_head_with_gpus_is_counted() -> None:
    assert asked(HeadInstanceType="g5.12xlarge")["gpus"] == {"head": 4, "worker": 8}


@pytest.mark.parametrize("nodes", [1, 200])
def test_an_answer_is_read_whether_packed_or_not(nodes: int) -> None:
    hosts = [
        host(f"i-{number}", said("ssh"), said("efs", "failed", f"hangs {number}"))
        for number in range(nodes)
    ]
    answer = fit({"hosts": hosts, "all_reduce": {"status": "ok"}, "busy": {"name": "job-1"}})
    assert ("packed" in answer) is (nodes > 1)
    side = read(answer)
    assert len(side.checks) == nodes
    assert side.checks["i-0"] == (
        NodeCheck("ssh", "ok"),
        NodeCheck("efs", "failed", None, "hangs 0"),
    )
    assert (side.all_reduce, side.job) == ({"status": "ok"}, {"name": "job-1"})


@pytest.mark.parametrize(
    "answer", [{}, {"hosts": None}, {"packed": "x"}, {"packed": "eJw="}, {"hosts": [{}]}]
)
def test_an_answer_of_another_version_is_told(answer: dict[str, Any]) -> None:
    with pytest.raises(AwsError, match="its program is of another version"):
        read(answer)


def test_a_status_that_is_not_known_counts_as_a_failure() -> None:
    side = read({"hosts": [host("i-1", said("new", "odd"))]})
    assert side.checks["i-1"][0].status == "failed"
