"""Which settings are accepted, and how a mistake is told."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stacks.settings import Settings
from training.errors import UsageError

prefixes = st.integers(min_value=0, max_value=32)
networks = st.builds(
    lambda address, prefix: IPv4Network((address >> (32 - prefix) << (32 - prefix), prefix)),
    st.integers(min_value=0, max_value=2**32 - 1),
    prefixes,
)
near_networks = st.builds(
    lambda third, fourth, prefix: IPv4Network(f"10.0.{third}.{fourth}/{prefix}", strict=False),
    st.integers(min_value=0, max_value=255),
    st.integers(min_value=0, max_value=255),
    st.integers(min_value=15, max_value=30),
)
"""Within 10.0.0.0/15, so that they often meet."""


@given(vpc=networks)
def test_a_vpc_is_cut_in_four_subnets_that_fill_it_or_refused_by_name(vpc: IPv4Network) -> None:
    try:
        settings = Settings.from_context({"vpc_cidr": str(vpc)})
    except UsageError as error:
        assert str(error).startswith(f"context key vpc_cidr = '{vpc}'")
        return
    plan = settings.subnet_plan
    assert_plan_is_possible(vpc, [plan.public, *plan.private])
    assert sum(each.num_addresses for each in [plan.public, *plan.private]) == vpc.num_addresses


@given(
    vpc=near_networks,
    public=near_networks,
    private=st.lists(near_networks, min_size=3, max_size=3),
)
def test_given_subnets_are_possible_or_refused_by_name(
    vpc: IPv4Network, public: IPv4Network, private: list[IPv4Network]
) -> None:
    context = {
        "vpc_cidr": str(vpc),
        "public_subnet_cidr": str(public),
        "private_subnet_cidrs": ",".join(map(str, private)),
    }
    try:
        settings = Settings.from_context(context)
    except UsageError as error:
        assert "\n" not in str(error)
        assert any(key in str(error) for key in context)
        return
    assert settings.subnet_plan.public == public
    assert list(settings.subnet_plan.private) == private
    assert_plan_is_possible(vpc, [public, *private])


@given(offset=st.integers(min_value=0, max_value=3), prefix=st.integers(min_value=16, max_value=26))
def test_quarters_of_a_vpc_are_accepted_in_any_order(offset: int, prefix: int) -> None:
    vpc = IPv4Network(f"10.64.0.0/{prefix}")
    quarters = [str(each) for each in vpc.subnets(prefixlen_diff=2)]
    public, *private = quarters[offset:] + quarters[:offset]
    settings = Settings.from_context(
        {"vpc_cidr": str(vpc), "public_subnet_cidr": public, "private_subnet_cidrs": private}
    )
    assert [str(each) for each in settings.subnet_plan.private] == private


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {"vpc_cdir": "10.0.0.0/16"},
            "context key vpc_cdir is not known: did you mean vpc_cidr?",
        ),
        (
            {"vpc-cidr": "10.0.0.0/16"},
            "context key vpc-cidr is not known: did you mean vpc_cidr?",
        ),
        (
            {"vpc_cidr": "10.0.0.1/16"},
            "context key vpc_cidr = '10.0.0.1/16': allowed is an IPv4 network of /16 to /26 "
            "without host bits, such as 172.30.0.0/16",
        ),
        (
            {"vpc_cidr": "172.30.0.0/27"},
            "context key vpc_cidr = '172.30.0.0/27': it does not hold four subnets of /28 or "
            "larger; allowed is an IPv4 network of /16 to /26 without host bits, such as "
            "172.30.0.0/16",
        ),
        (
            {"public_subnet_cidr": "172.30.0.0/24"},
            "context: public_subnet_cidr and private_subnet_cidrs go together: set both",
        ),
        (
            {
                "public_subnet_cidr": "172.30.0.0/24",
                "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,172.30.2.128/25",
            },
            "context: private_subnet_cidrs 172.30.2.0/24 overlaps private_subnet_cidrs "
            "172.30.2.128/25",
        ),
        (
            {
                "public_subnet_cidr": "172.30.0.0/24",
                "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,10.0.0.0/24",
            },
            "context: private_subnet_cidrs 10.0.0.0/24 is outside vpc_cidr 172.30.0.0/16",
        ),
        (
            {
                "public_subnet_cidr": "172.30.0.0/29",
                "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,172.30.3.0/24",
            },
            "context: public_subnet_cidr 172.30.0.0/29 is too small: a subnet is /28 or larger",
        ),
        (
            {"availability_zones": "us-east-1a,us-east-1b"},
            "context key availability_zones = 'us-east-1a,us-east-1b': 3 different ones are "
            "needed; allowed is three zones of one region, such as "
            "us-west-2a,us-west-2b,us-west-2c",
        ),
        (
            {"availability_zones": "us-east-1a,us-east-1b,us-west-2c"},
            "context key availability_zones = 'us-east-1a,us-east-1b,us-west-2c': they are of "
            "different regions; allowed is three zones of one region, such as "
            "us-west-2a,us-west-2b,us-west-2c",
        ),
        (
            {"availability_zones": "a,b,c"},
            "context key availability_zones = 'a,b,c': they are not all names of zones; allowed "
            "is three zones of one region, such as us-west-2a,us-west-2b,us-west-2c",
        ),
        ({"nat_gateways": "2"}, "context key nat_gateways = '2': allowed is 0 or 1"),
        (
            {"fsx_capacity_gib": "1300"},
            "context key fsx_capacity_gib = '1300': FSx for Lustre does not offer it; allowed is "
            "1200 or a multiple of 2400",
        ),
        (
            {"fsx_deployment": "scratch"},
            "context key fsx_deployment = 'scratch': allowed is PERSISTENT_2 or SCRATCH_2",
        ),
        (
            {"fsx_data_path": "data"},
            "context key fsx_data_path = 'data': allowed is an absolute folder below the root, "
            "such as /data",
        ),
        (
            {"fsx_throughput_mbps_per_tib": "200"},
            "context: fsx_throughput_mbps_per_tib = 200: allowed for PERSISTENT_2 are 125, 250, "
            "500, 1000",
        ),
        (
            {"fsx_deployment": "SCRATCH_2", "fsx_throughput_mbps_per_tib": "250"},
            "context: fsx_throughput_mbps_per_tib = 250 does not go with fsx_deployment = "
            "SCRATCH_2, whose throughput is fixed at 200: leave it out",
        ),
        (
            {"fsx_bucket_link": "import_path"},
            "context: fsx_bucket_link = import_path does not go with fsx_deployment = "
            "PERSISTENT_2: take fsx_bucket_link = association, or fsx_deployment = SCRATCH_2",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(context: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert str(error.value) == message


def test_a_key_like_no_other_is_answered_with_all_that_are_known() -> None:
    with pytest.raises(UsageError, match=r"known are vpc_cidr, .*fsx_removal"):
        Settings.from_context({"qqq": 1})


@pytest.mark.parametrize("days", [2, 0, -1, 4000])
def test_retention_that_cloudwatch_does_not_offer_is_refused(days: int) -> None:
    with pytest.raises(UsageError, match=rf"flow_log_retention_days = {days}: .* one of 1, 3, 5"):
        Settings.from_context({"flow_log_retention_days": days})


def test_context_of_cdk_itself_is_left_alone() -> None:
    context = {
        "@aws-cdk/core:checkSecretUsage": True,
        "aws:cdk:enable-path-metadata": True,
        "availability-zones:account=1:region=us-east-1": ["us-east-1a"],
        "acknowledged-issue-numbers": [1],
        "cli-telemetry": False,
    }
    assert Settings.from_context(context) == Settings()


def test_text_of_the_command_line_and_values_of_cdk_json_mean_the_same() -> None:
    text = {
        "nat_gateways": "0",
        "availability_zones": "us-west-2a, us-west-2b,us-west-2c",
        "public_subnet_cidr": "172.30.0.0/20",
        "private_subnet_cidrs": '["172.30.16.0/20", "172.30.32.0/20", "172.30.48.0/20"]',
        "fsx_capacity_gib": "4800",
    }
    values = {
        "nat_gateways": 0,
        "availability_zones": ["us-west-2a", "us-west-2b", "us-west-2c"],
        "public_subnet_cidr": "172.30.0.0/20",
        "private_subnet_cidrs": ["172.30.16.0/20", "172.30.32.0/20", "172.30.48.0/20"],
        "fsx_capacity_gib": 4800,
    }
    assert Settings.from_context(text) == Settings.from_context(values)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().nat_gateways = 0


def test_every_setting_says_what_is_allowed() -> None:
    assert [key for key, field in Settings.model_fields.items() if not field.description] == []


def assert_plan_is_possible(vpc: IPv4Network, subnets: list[IPv4Network]) -> None:
    assert 16 <= vpc.prefixlen <= 26
    for subnet in subnets:
        assert subnet.subnet_of(vpc)
        assert subnet.prefixlen <= 28
    for one, other in combinations(subnets, 2):
        assert not one.overlaps(other)
