"""How a VPC's addresses are shared out, whatever they are."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings.subnet_plan import (
    Cut,
    SubnetPlan,
    problems_of_cut,
    problems_of_plan,
    problems_of_vpc,
)

networks = st.builds(
    lambda address, prefix: IPv4Network((address >> (32 - prefix) << (32 - prefix), prefix)),
    st.integers(min_value=0, max_value=2**32 - 1),
    st.integers(min_value=0, max_value=32),
)
near_networks = st.builds(
    lambda third, fourth, prefix: IPv4Network(f"10.0.{third}.{fourth}/{prefix}", strict=False),
    st.integers(min_value=0, max_value=255),
    st.integers(min_value=0, max_value=255),
    st.integers(min_value=15, max_value=30),
)
"""Within 10.0.0.0/15, so that they often meet."""

cuts = st.integers(min_value=2, max_value=6).flatmap(
    lambda zones: st.builds(
        Cut, public=st.integers(min_value=0, max_value=zones), private=st.just(zones)
    )
)


@given(vpc=networks, cut=cuts)
def test_a_vpc_is_cut_in_subnets_that_aws_makes_or_is_refused(vpc: IPv4Network, cut: Cut) -> None:
    if [*problems_of_vpc(vpc), *problems_of_cut(vpc, cut)]:
        return
    plan = cut.of(vpc)
    assert (len(plan.public), len(plan.private)) == (cut.public, cut.private)
    assert_aws_makes(vpc, plan)
    assert list(problems_of_plan(vpc, plan)) == []


@given(cut=cuts)
def test_the_smallest_vpc_is_the_smallest_that_can_be_cut(cut: Cut) -> None:
    def smallest_subnet(vpc_prefix: int) -> int:
        plan = cut.of(IPv4Network(f"10.64.0.0/{vpc_prefix}"))
        return max(each.prefixlen for each in [*plan.public, *plan.private])

    assert smallest_subnet(cut.smallest_vpc) <= 28 < smallest_subnet(cut.smallest_vpc + 1)


@given(cut=cuts, prefix=st.integers(min_value=16, max_value=28))
def test_a_vpc_that_cannot_be_cut_is_told_which_can(cut: Cut, prefix: int) -> None:
    problems = list(problems_of_cut(IPv4Network(f"10.64.0.0/{prefix}"), cut))
    if prefix <= cut.smallest_vpc:
        assert problems == []
    else:
        [problem] = problems
        assert f"take /{cut.smallest_vpc} or larger" in problem


@given(
    prefix=st.integers(min_value=16, max_value=22), private=st.integers(min_value=2, max_value=6)
)
def test_subnets_keep_their_addresses_when_nat_gateways_come_and_go(
    prefix: int, private: int
) -> None:
    vpc = IPv4Network(f"10.0.0.0/{prefix}")
    all_of_them = Cut(public=private, private=private).of(vpc)
    for public in range(private):
        plan = Cut(public=public, private=private).of(vpc)
        assert plan.private == all_of_them.private
        assert plan.public == all_of_them.public[:public]


@given(
    prefix=st.integers(min_value=16, max_value=25),
    public=st.integers(min_value=0, max_value=2),
    zones=st.sampled_from([(2, 3), (4, 5), (4, 6), (5, 6)]),
)
def test_subnets_keep_their_addresses_when_a_zone_comes_or_goes(
    prefix: int, public: int, zones: tuple[int, int]
) -> None:
    """But from three zones to four, where each gets half of what it had."""
    vpc = IPv4Network(f"10.0.0.0/{prefix}")
    fewer, more = (Cut(public=public, private=count) for count in zones)
    if [*problems_of_cut(vpc, fewer), *problems_of_cut(vpc, more)]:
        return
    assert fewer.of(vpc).public == more.of(vpc).public
    assert fewer.of(vpc).private == more.of(vpc).private[: zones[0]]


@given(prefix=st.integers(min_value=16, max_value=22))
def test_a_nat_gateway_for_a_third_zone_leaves_the_others_where_they_are(prefix: int) -> None:
    vpc = IPv4Network(f"10.0.0.0/{prefix}")
    two, three = (Cut(public=zones, private=zones).of(vpc) for zones in (2, 3))
    assert three.public[:2] == two.public


@pytest.mark.parametrize(
    ("vpc", "cut", "public", "private"),
    [
        # As the CloudFormation templates that this app replaces.
        (
            "172.30.0.0/25",
            Cut(public=1, private=3),
            ["172.30.0.0/27"],
            ["172.30.0.32/27", "172.30.0.64/27", "172.30.0.96/27"],
        ),
        ("10.0.0.0/16", Cut(public=0, private=2), [], ["10.0.64.0/18", "10.0.128.0/18"]),
        (
            "10.0.0.0/16",
            Cut(public=1, private=2),
            ["10.0.0.0/20"],
            ["10.0.64.0/18", "10.0.128.0/18"],
        ),
        (
            "10.0.0.0/16",
            Cut(public=1, private=3),
            ["10.0.0.0/20"],
            ["10.0.64.0/18", "10.0.128.0/18", "10.0.192.0/18"],
        ),
        (
            "10.0.0.0/16",
            Cut(public=3, private=3),
            ["10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20"],
            ["10.0.64.0/18", "10.0.128.0/18", "10.0.192.0/18"],
        ),
        (
            "10.0.0.0/24",
            Cut(public=2, private=4),
            ["10.0.0.0/28", "10.0.0.16/28"],
            ["10.0.0.32/27", "10.0.0.64/27", "10.0.0.96/27", "10.0.0.128/27"],
        ),
    ],
)
def test_cuts_are_as_documented(vpc: str, cut: Cut, public: list[str], private: list[str]) -> None:
    plan = cut.of(IPv4Network(vpc))
    assert [str(each) for each in plan.public] == public
    assert [str(each) for each in plan.private] == private


@given(
    vpc=near_networks,
    public=st.lists(near_networks, max_size=3),
    private=st.lists(near_networks, min_size=2, max_size=6),
)
def test_a_plan_without_problems_is_one_that_aws_makes(
    vpc: IPv4Network, public: list[IPv4Network], private: list[IPv4Network]
) -> None:
    plan = SubnetPlan(public=tuple(public), private=tuple(private))
    if list(problems_of_plan(vpc, plan)) == []:
        assert_aws_makes(vpc, plan)


@pytest.mark.parametrize(
    ("vpc", "problem"),
    [
        ("10.0.0.0/15", "a VPC is /16 to /28"),
        ("10.0.0.0/29", "a VPC is /16 to /28"),
        ("127.1.0.0/16", "no VPC may be in 127.0.0.0/8"),
        ("169.254.0.0/24", "no VPC may be in 169.254.0.0/16"),
        ("0.0.0.0/16", "no VPC may be in 0.0.0.0/8"),
        ("240.0.0.0/16", "no VPC may be in 224.0.0.0/3"),
    ],
)
def test_addresses_that_aws_takes_for_no_vpc_are_refused(vpc: str, problem: str) -> None:
    assert list(problems_of_vpc(IPv4Network(vpc))) == [problem]


def assert_aws_makes(vpc: IPv4Network, plan: SubnetPlan) -> None:
    subnets = [*plan.public, *plan.private]
    for subnet in subnets:
        assert subnet.subnet_of(vpc)
        assert subnet.prefixlen <= 28
    for one, other in combinations(subnets, 2):
        assert not one.overlaps(other)
