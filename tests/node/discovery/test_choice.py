"""Which nodes can be counted on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.discovery.choice import LeftOut, choose
from node.groups import GroupInstance
from node.registrations import FRESH_S, Registration

NOW = 1_700_000_000.0


def node(number: int, *, ago_s: float = 3, **changes: object) -> Registration:
    one = Registration(
        instance_id=f"i-{number:08x}",
        role="worker",
        address=f"10.0.0.{number}",
        slots=8,
        instance_type="p4d.24xlarge",
        zone="eu-central-1a",
        time=NOW - ago_s,
        state="ready",
    )
    return replace(one, **changes)  # type: ignore[arg-type]


def member(
    number: int, lifecycle: str = "InService", health: str = "Healthy", role: str = "worker"
) -> GroupInstance:
    return GroupInstance(f"i-{number:08x}", role, lifecycle, health)


def members(*all_of_them: GroupInstance) -> dict[str, GroupInstance]:
    return {one.instance_id: one for one in all_of_them}


def test_head_comes_first_and_workers_by_address() -> None:
    head = node(99, role="head", slots=0)
    nodes = [node(10), node(9), head]
    choice = choose(nodes, members(member(9), member(10), member(99, role="head")), now=NOW)
    assert [one.address for one in choice.hosts] == ["10.0.0.99", "10.0.0.9", "10.0.0.10"]
    assert choice.left_out == []


@pytest.mark.parametrize(
    ("registration", "of_group", "reason"),
    [
        (node(1, ago_s=31), member(1), "has not registered for 31 s"),
        (node(1, ago_s=-31), member(1), "its clock is 31 s ahead of this node's"),
        (node(1, state="leaving"), member(1), "is leaving"),
        (node(1, state="leaving", reason="spot"), member(1), "is leaving: spot"),
        (
            node(1, state="failed", reason="AMI without driver", ago_s=900),
            member(1),
            "its set-up failed: AMI without driver",
        ),
        (node(1), member(1, "Terminating"), "AWS says: Terminating, Healthy"),
        (node(1), member(1, health="Unhealthy"), "AWS says: InService, Unhealthy"),
    ],
)
def test_a_node_is_left_out_with_its_reason(
    registration: Registration, of_group: GroupInstance, reason: str
) -> None:
    choice = choose([registration], members(of_group), now=NOW)
    assert choice.hosts == []
    assert choice.left_out == [LeftOut("i-00000001", reason, "worker", "10.0.0.1")]


def test_an_instance_that_has_not_registered_is_named_with_its_log() -> None:
    choice = choose([], members(member(1), member(2, "Pending"), member(3, role="head")), now=NOW)
    unregistered = "has not registered; the log of its set-up: stream {}/setup"
    assert choice.left_out == [
        LeftOut("i-00000001", unregistered.format("i-00000001"), "worker"),
        LeftOut("i-00000002", "AWS says: Pending, Healthy", "worker"),
        LeftOut("i-00000003", unregistered.format("i-00000003"), "head"),
    ]


def test_a_file_of_an_instance_that_is_long_gone_is_no_news() -> None:
    choice = choose([node(1, ago_s=5000), node(2)], {}, now=NOW)
    assert choice.hosts == []
    assert choice.left_out == [
        LeftOut("i-00000002", "is in neither group (any more)", "worker", "10.0.0.2")
    ]


def test_of_two_with_one_address_the_later_counts() -> None:
    old, new = node(1, ago_s=20), node(2, ago_s=1, address="10.0.0.1")
    choice = choose([new, old], members(member(1), member(2)), now=NOW)
    assert choice.hosts == [new]
    assert [one.instance_id for one in choice.left_out] == ["i-00000001"]
    assert "i-00000002 has registered the same address, 10.0.0.1, later" in (
        choice.left_out[0].reason
    )


def test_without_aws_the_register_alone_counts() -> None:
    choice = choose([node(1), node(2, ago_s=60)], None, now=NOW)
    assert choice.hosts == [node(1)]
    assert [one.instance_id for one in choice.left_out] == ["i-00000002"]


nodes_of_any_kind = st.lists(
    st.builds(
        node,
        st.integers(1, 6),
        ago_s=st.floats(-100, 100),
        address=st.sampled_from([f"10.0.0.{last}" for last in range(1, 5)]),
        state=st.sampled_from(["ready", "leaving", "failed"]),
        role=st.sampled_from(["head", "worker"]),
    ),
    unique_by=lambda one: one.instance_id,
)
members_of_any_kind = st.none() | st.lists(
    st.builds(
        member,
        st.integers(1, 6),
        st.sampled_from(["InService", "Pending", "Terminating"]),
        st.sampled_from(["Healthy", "Unhealthy"]),
    ),
    unique_by=lambda one: one.instance_id,
).map(lambda all_of_them: members(*all_of_them))


@given(registrations=nodes_of_any_kind, of_groups=members_of_any_kind)
def test_every_host_is_fresh_ready_in_service_and_has_its_address_alone(
    registrations: list[Registration], of_groups: dict[str, GroupInstance] | None
) -> None:
    choice = choose(registrations, of_groups, now=NOW)
    for host in choice.hosts:
        assert abs(NOW - host.time) <= FRESH_S
        assert host.state == "ready"
        assert of_groups is None or of_groups[host.instance_id].is_usable
    addresses = [host.address for host in choice.hosts]
    assert len(set(addresses)) == len(addresses)
    roles = [host.role for host in choice.hosts]
    assert roles == sorted(roles)  # head, worker
    # Nobody is both, and nobody of a group is forgotten.
    left_out = {one.instance_id for one in choice.left_out}
    hosts = {one.instance_id for one in choice.hosts}
    assert not hosts & left_out
    assert set(of_groups or {}) <= hosts | left_out
    # A host that could be used is used, or another has its address, later.
    for one in registrations:
        is_good = one.state == "ready" and abs(NOW - one.time) <= FRESH_S
        is_good = is_good and (
            of_groups is None
            or (one.instance_id in of_groups and of_groups[one.instance_id].is_usable)
        )
        assert not is_good or one.address in addresses
