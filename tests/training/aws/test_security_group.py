"""What security group rules let in and out."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.aws.security_group import (
    Peer,
    admits,
    admits_everything,
    releases,
    releases_everything,
)

JOBS = Peer("sg-jobs", (IPv4Network("10.0.0.0/24"), IPv4Network("10.0.1.0/24")))


def rule(
    first: int, last: int, *, protocol: str = "tcp", group: str | None = None, cidrs: Any = ()
) -> dict[str, Any]:
    return {
        "IpProtocol": protocol,
        "FromPort": first,
        "ToPort": last,
        "UserIdGroupPairs": [{"GroupId": group}] if group else [],
        "IpRanges": [{"CidrIp": cidr} for cidr in cidrs],
    }


ALL = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-jobs"}]}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], False),
        ([rule(988, 988, group="sg-jobs")], True),
        ([rule(0, 65535, group="sg-jobs")], True),
        ([rule(988, 988, group="sg-other")], False),
        ([rule(989, 1000, group="sg-jobs")], False),
        ([rule(988, 988, protocol="udp", group="sg-jobs")], False),
        ([ALL], True),
        ([rule(988, 988, cidrs=["10.0.0.0/16"])], True),
        ([rule(988, 988, cidrs=["10.0.0.0/24", "10.0.1.0/24"])], True),
        ([rule(988, 988, cidrs=["10.0.0.0/24"])], False),
        ([rule(988, 988, cidrs=["0.0.0.0/0"])], True),
    ],
)
def test_a_rule_admits_a_group_by_name_or_by_addresses(
    rules: list[dict[str, Any]], expected: bool
) -> None:
    assert admits({"IpPermissions": rules}, (988, 988), JOBS) is expected
    assert releases({"IpPermissionsEgress": rules}, (988, 988), JOBS) is expected
    assert not releases({"IpPermissions": rules}, (988, 988), JOBS)


def test_of_a_peer_whose_addresses_are_unknown_only_rules_for_everyone_count() -> None:
    peer = Peer("sg-jobs")
    assert not admits({"IpPermissions": [rule(1, 9, cidrs=["10.0.0.0/8"])]}, (5, 5), peer)
    assert admits({"IpPermissions": [rule(1, 9, cidrs=["0.0.0.0/0"])]}, (5, 5), peer)


@given(
    ranges=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), max_size=6),
    ports=st.tuples(st.integers(1, 20), st.integers(1, 20)).map(lambda p: (min(p), max(p))),
)
def test_ranges_admit_ports_that_they_hold_together(
    ranges: list[tuple[int, int]], ports: tuple[int, int]
) -> None:
    rules = [rule(min(pair), max(pair), group="sg-jobs") for pair in ranges]
    held = {port for pair in ranges for port in range(min(pair), max(pair) + 1)}
    expected = set(range(ports[0], ports[1] + 1)) <= held
    assert admits({"IpPermissions": rules}, ports, JOBS) is expected


def test_everything_is_every_protocol_by_name() -> None:
    assert releases_everything({"IpPermissionsEgress": [ALL]}, "sg-jobs")
    assert not releases_everything({"IpPermissions": [ALL]}, "sg-jobs")
    assert admits_everything({"IpPermissions": [ALL]}, "sg-jobs")
    assert not admits_everything({"IpPermissions": [ALL]}, "sg-other")
    assert not admits_everything({"IpPermissions": [rule(0, 65535, group="sg-jobs")]}, "sg-jobs")
