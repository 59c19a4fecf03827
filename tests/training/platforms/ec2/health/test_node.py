"""Which node is replaced, and which is only watched."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stacks.settings.cluster import LONGEST_SETUP_MINUTES
from tests.training.platforms.ec2.health.pieces import NOW, aws_node
from training.platforms.ec2.health.check import NodeCheck, failed, ok, warning
from training.platforms.ec2.health.node import judge_all

WELL = (ok("registered"), ok("ssh"), ok("efs", "nfs4 9 ms"), ok("gpus"))


def test_a_node_that_is_well_is_left_alone() -> None:
    [node] = judge_all([aws_node()], {"i-1": WELL}, now=NOW)
    assert (node.verdict, node.reasons, node.has_failed) == ("ok", (), False)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (failed("gpus", "7 of the 8 GPUs"), "replace"),
        (failed("ssh", "no answer"), "replace"),
        (failed("efs", "it hangs"), "replace"),
        (failed("xid", "Xid 79"), "replace"),
        (failed("ssm-lost", "lost the head"), "replace"),
        # It never came up: that is the network's fault.
        (failed("ssm", "does not know the head"), "watch"),
        # Another machine would be as full soon, and somebody should look why.
        (failed("disk", "/ is full"), "watch"),
        (warning("xid", "Xid 31"), "watch"),
        (warning("driver", "the NVIDIA driver is older"), "watch"),
    ],
)
def test_what_another_machine_mends_is_replaced(check: NodeCheck, verdict: str) -> None:
    [node, _] = judge_all(
        [aws_node(), aws_node("i-2")], {"i-1": (*WELL, check), "i-2": WELL}, now=NOW
    )
    assert node.verdict == verdict
    assert node.reasons == (f"{check.name}: {check.message}",)


def test_a_file_system_that_hangs_everywhere_is_no_nodes_fault() -> None:
    told = {name: (ok("ssh"), failed("efs", "it hangs")) for name in ("i-1", "i-2")}
    nodes = judge_all([aws_node("i-1"), aws_node("i-2"), aws_node("i-3")], told, now=NOW)
    assert [node.verdict for node in nodes] == ["watch", "watch", "ok"]
    # A node more that reaches it, and it is these two.
    told["i-3"] = (ok("ssh"), ok("efs"))
    nodes = judge_all([aws_node("i-1"), aws_node("i-2"), aws_node("i-3")], told, now=NOW)
    assert [node.verdict for node in nodes] == ["replace", "replace", "ok"]


@pytest.mark.parametrize("minutes", [5, LONGEST_SETUP_MINUTES])
def test_a_node_in_its_set_up_is_watched(minutes: int) -> None:
    young = aws_node(launched=NOW - timedelta(minutes=minutes))
    [node] = judge_all([young], {"i-1": (failed("registered", "not yet"),)}, now=NOW)
    assert node.verdict == "watch"
    assert node.reasons == ("it has just started: registered: not yet",)
    assert node.has_failed


def test_a_young_node_that_was_through_with_it_is_replaced() -> None:
    young = aws_node(launched=NOW - timedelta(minutes=5))
    [node] = judge_all([young], {"i-1": (*WELL, failed("xid", "Xid 79"))}, now=NOW)
    assert node.verdict == "replace"


def test_a_young_node_with_a_warning_is_no_news() -> None:
    young = aws_node(launched=NOW - timedelta(minutes=5))
    [node] = judge_all([young], {"i-1": (warning("ssm", "unknown"),)}, now=NOW)
    assert (node.verdict, node.reasons) == ("watch", ("ssm: unknown",))


def test_a_node_that_its_group_replaces_is_not_replaced_twice() -> None:
    going = aws_node(is_let_go=True)
    [node] = judge_all([going], {"i-1": (failed("ssh", "no answer"),)}, now=NOW)
    assert node.verdict == "watch"


def test_failures_come_before_warnings() -> None:
    node = aws_node("i-1", warning("ssm", "unknown"), failed("system-status", "fails"))
    [judged] = judge_all([node], {}, now=NOW)
    assert judged.reasons == ("system-status: fails", "ssm: unknown")
