"""Which settings of the network are accepted, and how a mistake is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.endpoint_services import BY_NAME, NEEDED
from stacks.settings import Settings
from stacks.settings.network import NetworkSettings
from training.errors import UsageError
from training.instances import INSTANCES

VPC = "vpc-0123456789abcdef0"
SUBNETS = (
    "subnet-0123456789abcdef1:us-west-2a:rtb-0123456789abcdef1,"
    "subnet-0123456789abcdef2:us-west-2b:rtb-0123456789abcdef1"
)
EXISTING = {"vpc_id": VPC, "private_subnets": SUBNETS}
CLOSED = {"internet_access": "false", "notebook_wheels": "wheels"}


def read(**context: Any) -> NetworkSettings:
    return Settings.from_context(context).network


def refusal(**context: Any) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    return str(error.value)


def test_by_default_three_zones_leave_through_one_nat_gateway() -> None:
    settings = read()
    assert (settings.number_of_zones, settings.number_of_nat_gateways) == (3, 1)
    assert settings.zone_names is None
    assert settings.endpoint_names == ()
    assert len(settings.subnet_plan.public) == 1
    assert settings.flow_log_retention_days == 365


@given(zones=st.integers(min_value=2, max_value=6), gateways=st.integers(min_value=0, max_value=6))
def test_each_nat_gateway_has_a_public_subnet_and_there_is_at_least_one(
    zones: int, gateways: int
) -> None:
    context = {"zone_count": zones, "nat_gateways": gateways}
    if gateways > zones:
        assert f"nat_gateways = {gateways} is more than the {zones} zones" in refusal(**context)
        return
    plan = read(**context).subnet_plan
    assert (len(plan.public), len(plan.private)) == (max(1, gateways), zones)


def test_named_zones_count_themselves() -> None:
    settings = read(availability_zones="us-west-2a,us-west-2d", zone_count="2")
    assert settings.zone_names == ("us-west-2a", "us-west-2d")
    assert settings.number_of_zones == 2


@pytest.mark.parametrize("zone", ["us-gov-west-1a", "cn-north-1b", "ap-southeast-3c"])
def test_zones_of_every_partition_are_names(zone: str) -> None:
    assert read(availability_zones=[zone, f"{zone[:-1]}d"]).zone_names == (zone, f"{zone[:-1]}d")


def test_more_public_subnets_may_be_given_than_nat_gateways_need() -> None:
    settings = read(
        public_subnet_cidrs="172.30.0.0/24,172.30.1.0/24",
        private_subnet_cidrs="172.30.16.0/20,172.30.32.0/20,172.30.48.0/20",
    )
    assert settings.number_of_nat_gateways == 1
    assert [str(each) for each in settings.subnet_plan.public] == ["172.30.0.0/24", "172.30.1.0/24"]


def test_without_internet_there_is_no_public_subnet_and_every_needed_endpoint() -> None:
    settings = read(**CLOSED)
    assert settings.number_of_nat_gateways == 0
    assert settings.subnet_plan.public == ()
    assert settings.endpoint_names == NEEDED


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("none", ()),
        ("needed", NEEDED),
        ("all", tuple(BY_NAME)),
        ("sts, logs", ("sts", "logs")),
        ('["sts"]', ("sts",)),
        (["sts"], ("sts",)),
        ("", ()),
    ],
)
def test_endpoints_are_asked_for_by_group_or_by_name(value: Any, names: tuple[str, ...]) -> None:
    assert read(interface_endpoints=value).endpoint_names == names


def test_an_existing_vpc_brings_its_zones() -> None:
    settings = read(**EXISTING, public_subnets="subnet-01234567:us-west-2c")
    assert settings.zone_names == ("us-west-2a", "us-west-2b")
    assert settings.number_of_zones == 2
    assert settings.private_subnets[1].route_table_id == "rtb-0123456789abcdef1"
    assert settings.public_subnets[0].route_table_id is None


def test_one_subnet_of_an_existing_vpc_is_enough() -> None:
    assert read(vpc_id=VPC, private_subnets=SUBNETS.split(",")[:1]).number_of_zones == 1


def test_route_tables_may_be_left_out_where_there_is_a_way_to_s3() -> None:
    subnet = "subnet-01234567:us-west-2a"
    settings = read(vpc_id=VPC, private_subnets=subnet, s3_endpoint="existing")
    assert settings.private_subnets[0].route_table_id is None


def test_endpoints_of_an_existing_vpc_without_internet_may_be_there_already() -> None:
    assert read(**EXISTING, **CLOSED).endpoint_names == NEEDED
    assert read(**EXISTING, **CLOSED, interface_endpoints="none").endpoint_names == ()


def test_an_empty_text_takes_back_what_cdk_json_sets() -> None:
    keys = [
        "availability_zones",
        "zone_count",
        "nat_gateways",
        "public_subnet_cidrs",
        "private_subnet_cidrs",
        "vpc_id",
        "private_subnets",
        "public_subnets",
        "training_security_group_id",
        "interface_endpoints",
        "planned_instance_type",
        "planned_instance_count",
    ]
    assert read(**dict.fromkeys(keys, "")).model_dump() == read().model_dump()
    new_vpc_keys = ["availability_zones", "zone_count", "nat_gateways", "private_subnet_cidrs"]
    assert read(**EXISTING, **dict.fromkeys(new_vpc_keys, "")).vpc_id == VPC


@given(instance=st.sampled_from(INSTANCES), count=st.integers(min_value=1, max_value=10_000))
def test_a_planned_cluster_fits_or_the_message_names_a_vpc_that_holds_it(
    instance: Any, count: int
) -> None:
    plan = {"planned_instance_type": instance.name, "planned_instance_count": count}
    small = {"vpc_cidr": "10.64.0.0/22", **plan}
    try:
        Settings.from_context(small)
    except UsageError as error:
        message = str(error)
        assert f"planned_instance_count = {count} of {instance.name} needs " in message
        if "plan fewer" in message:
            assert "has 16384" in refusal(**{**small, "vpc_cidr": "10.64.0.0/16"})
            return
        prefix = message.partition("take vpc_cidr of ")[2].partition(" ")[0]
        Settings.from_context({**small, "vpc_cidr": f"10.64.0.0{prefix}"})
        smaller = f"10.64.0.0/{int(prefix[1:]) + 1}"
        assert " needs " in refusal(**{**small, "vpc_cidr": smaller})


def test_only_the_subnet_of_fsx_has_to_hold_the_cluster() -> None:
    context = {
        "public_subnet_cidrs": "172.30.0.0/24",
        "private_subnet_cidrs": "172.30.1.0/28,172.30.16.0/20,172.30.2.0/28",
        "planned_instance_type": "p4d.24xlarge",
        "planned_instance_count": "100",
    }
    read(**context, fsx_zone="2")
    message = refusal(**context, fsx_zone="1")
    assert "172.30.1.0/28 has 16: make it /23 or larger in private_subnet_cidrs" in message
    # Without FSx, jobs run in the largest.
    read(**context, fsx="none")


def test_the_addresses_of_an_existing_vpc_are_not_judged_here() -> None:
    plan = {"planned_instance_type": "p4d.24xlarge", "planned_instance_count": "10000"}
    settings = read(**EXISTING, **plan)
    assert settings.planned_instance is not None
    assert settings.planned_instance.name == "p4d.24xlarge"


def mistakes() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield context and the whole message."""
    yield from mistakes_in_values()
    yield from mistakes_in_a_new_vpc()
    yield from mistakes_in_an_existing_vpc()
    yield from mistakes_in_addresses()


def mistakes_in_values() -> Iterator[tuple[dict[str, Any], str]]:
    cidr = "allowed is an IPv4 network of /16 to /28 without host bits, such as 172.30.0.0/16"
    zones = "allowed is 2 to 6 zones of one region, such as us-west-2a,us-west-2b,us-west-2c"
    services = f"allowed is none, needed, all, or some of {', '.join(BY_NAME)}"
    for vpc, why in (
        ("10.0.0.1/16", ""),
        ("10.0.0.0/15", "a VPC is /16 to /28; "),
        ("127.0.0.0/16", "no VPC may be in 127.0.0.0/8; "),
    ):
        yield {"vpc_cidr": vpc}, f"context key vpc_cidr = '{vpc}': {why}{cidr}"
    for given_zones, why in (
        ("us-west-2a", "one is not enough"),
        (
            "usw2-az1,us-west-2b",
            "'usw2-az1' is the id of a zone: give its name, such as us-west-2a",
        ),
        (
            "us-west-2-lax-1a,us-west-2b",
            "'us-west-2-lax-1a' is a local zone: give one of the region itself, such as us-west-2a",
        ),
        (
            "us-west-2a,us-west-2a",
            "a zone is there twice, and each subnet is in a zone of its own",
        ),
        ("us-east-1a,us-west-2c", "they are of different regions"),
        ("a,us-west-2a", "'a' is no name of a zone"),
    ):
        yield (
            {"availability_zones": given_zones},
            f"context key availability_zones = '{given_zones}': {why}; {zones}",
        )
    for key, value in (("zone_count", "7"), ("zone_count", "1"), ("zone_count", "2.5")):
        yield {key: value}, f"context key {key} = '{value}': allowed is 2 to 6"
    for endpoints, why in (
        ("sts,foo", "'foo' is no service that has an endpoint here"),
        ("none,sts", "'none' is no service that has an endpoint here"),
        ("sts,sts", "a service is there twice"),
    ):
        yield (
            {"interface_endpoints": endpoints},
            f"context key interface_endpoints = '{endpoints}': {why}; {services}",
        )
    yield (
        {"internet_access": "maybe"},
        "context key internet_access = 'maybe': allowed is true or false",
    )


def mistakes_in_a_new_vpc() -> Iterator[tuple[dict[str, Any], str]]:
    private = "172.30.1.0/24,172.30.2.0/24,172.30.3.0/24"
    yield (
        {"zone_count": "3", "availability_zones": "us-west-2a,us-west-2b"},
        "zone_count = 3, but availability_zones names 2: leave zone_count out, or name 3 zones",
    )
    yield (
        {**CLOSED, "nat_gateways": "1"},
        "nat_gateways = 1 does not go with internet_access = false: leave it out, or set "
        "internet_access = true",
    )
    yield (
        {**CLOSED, "public_subnet_cidrs": "172.30.0.0/24", "private_subnet_cidrs": private},
        "public_subnet_cidrs does not go with internet_access = false: leave it out, or set "
        "internet_access = true",
    )
    yield (
        {**CLOSED, "interface_endpoints": ",".join(name for name in NEEDED if name != "sts")},
        "interface_endpoints lacks what training and the notebook need where internet_access = "
        "false: sts. Take needed, or add them",
    )
    yield (
        {"interface_endpoint_zones": "4"},
        "interface_endpoint_zones = 4 is more than the number of private subnets: take at most 3",
    )
    yield (
        {"private_subnet_cidrs": private},
        "public_subnet_cidrs and private_subnet_cidrs go together: set both",
    )
    yield (
        {"public_subnet_cidrs": "172.30.0.0/24"},
        "public_subnet_cidrs and private_subnet_cidrs go together: set both",
    )
    yield (
        {"public_subnet_cidrs": "172.30.0.0/24", "private_subnet_cidrs": private[:27]},
        "the number of private_subnet_cidrs is 2, and there are 3 zones: give 3, or change "
        "zone_count or availability_zones",
    )
    yield (
        {
            "nat_gateways": "2",
            "public_subnet_cidrs": "172.30.0.0/24",
            "private_subnet_cidrs": private,
        },
        "the number of public_subnet_cidrs is 1: give 2 (nat_gateways = 2) to 3 (one a zone)",
    )
    yield (
        {"planned_instance_count": "4"},
        "planned_instance_type and planned_instance_count go together: set both, to check that "
        "there are addresses for that cluster, or neither",
    )
    for key, value in (
        ("private_subnets", SUBNETS),
        ("public_subnets", "subnet-01234567:us-west-2a"),
        ("training_security_group_id", "sg-01234567"),
        ("s3_endpoint", "existing"),
        ("flow_logs", "existing"),
    ):
        yield {key: value}, f"{key} is for an existing VPC: set vpc_id too, or leave {key} out"


def mistakes_in_an_existing_vpc() -> Iterator[tuple[dict[str, Any], str]]:
    yield (
        {"vpc_id": VPC},
        f"vpc_id = {VPC} needs private_subnets too: subnet-id:zone:route-table-id of each, with "
        "commas between them",
    )
    for key, value in (
        ("vpc_cidr", "10.0.0.0/16"),
        ("availability_zones", "us-west-2a,us-west-2b"),
        ("zone_count", "2"),
        ("nat_gateways", "0"),
        ("public_subnet_cidrs", "172.30.0.0/24"),
        ("private_subnet_cidrs", "172.30.0.0/24"),
    ):
        yield (
            {**EXISTING, key: value},
            f"{key} is for a new VPC, and vpc_id = {VPC} names an existing one: leave one of the "
            "two out",
        )
    yield (
        {"vpc_id": VPC, "private_subnets": "subnet-01234567:us-west-2a"},
        "private_subnets names no route table of subnet-01234567, which gets the way to S3: write "
        "subnet-01234567:us-west-2a:rtb-…, or set s3_endpoint = existing where the VPC has a "
        "gateway endpoint for S3",
    )
    yield (
        {**EXISTING, "public_subnets": "subnet-0123456789abcdef2:us-west-2b"},
        "subnet-0123456789abcdef2 is in private_subnets and in public_subnets: it can be in one "
        "of them",
    )
    yield (
        {**EXISTING, "public_subnets": "subnet-01234567:us-east-1a"},
        "private_subnets and public_subnets are in different regions (us-east-1, us-west-2): a "
        "VPC is in one",
    )
    yield (
        {**EXISTING, **CLOSED, "public_subnets": "subnet-01234567:us-west-2a"},
        "public_subnets does not go with internet_access = false: leave it out, or set "
        "internet_access = true",
    )


def mistakes_in_addresses() -> Iterator[tuple[dict[str, Any], str]]:
    public = {"public_subnet_cidrs": "172.30.0.0/24"}
    yield (
        {**public, "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,172.30.2.128/25"},
        "private_subnet_cidrs 172.30.2.0/24 overlaps private_subnet_cidrs 172.30.2.128/25: give "
        "each its own addresses",
    )
    yield (
        {**public, "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,10.0.0.0/24"},
        "private_subnet_cidrs 10.0.0.0/24 is outside vpc_cidr 172.30.0.0/16: take a part of it",
    )
    yield (
        {**public, "private_subnet_cidrs": "172.30.1.0/24,172.30.2.0/24,172.30.3.0/29"},
        "private_subnet_cidrs 172.30.3.0/29 is too small: a subnet is /28 or larger",
    )
    yield (
        {"vpc_cidr": "172.30.0.0/27"},
        "vpc_cidr = 172.30.0.0/27 does not hold 3 private and 1 public subnets of /28, the "
        "smallest that AWS makes: take /26 or larger, or give public_subnet_cidrs and "
        "private_subnet_cidrs",
    )
    yield (
        {"vpc_cidr": "172.30.0.0/26", **CLOSED},
        "what the stacks make needs 19 addresses in one private subnet (FSx for Lustre 2, EFS 1, "
        "interface endpoints 10, notebook 1, AWS itself 5), and 172.30.0.16/28 has 16: take "
        "vpc_cidr of /25 or larger, now 172.30.0.0/26",
    )
    yield (
        {
            "vpc_cidr": "172.30.0.0/25",
            "planned_instance_type": "ml.p4d.24xlarge",
            "planned_instance_count": "64",
        },
        "planned_instance_count = 64 of ml.p4d.24xlarge needs 329 addresses in one private subnet "
        "(instances 320, FSx for Lustre 2, EFS 1, notebook 1, AWS itself 5), and 172.30.0.32/27 "
        "has 32: take vpc_cidr of /21 or larger, now 172.30.0.0/25",
    )


@pytest.mark.parametrize(("context", "message"), list(mistakes()))
def test_a_mistake_is_told_in_one_line(context: dict[str, Any], message: str) -> None:
    said = refusal(**context)
    assert said.removeprefix("context: ") == message


@pytest.mark.parametrize(
    ("subnet", "why"),
    [
        ("subnet-01234567", "it is not two or three parts with a colon between them"),
        ("subnet-1:us-west-2a:rtb-01234567", "'subnet-1' is no id of a subnet"),
        ("subnet-01234567:usw2-az1:rtb-01234567", "'usw2-az1' is the id of a zone"),
        ("subnet-01234567:us-west-2a:main", "'main' is no id of a route table"),
        ("subnet-01234567:us-west-2a:", "'' is no id of a route table"),
        (7, "it is no text"),
        ({}, "it is no text"),
    ],
)
def test_a_subnet_of_another_form_is_refused_with_the_form(subnet: Any, why: str) -> None:
    message = refusal(vpc_id=VPC, private_subnets=[subnet])
    assert message.startswith(f"context key private_subnets = {subnet!r}: {why}")
    assert "allowed is subnet-id:zone:route-table-id of each private subnet" in message


def test_two_subnets_of_a_zone_or_one_twice_are_refused() -> None:
    first = SUBNETS.split(",", maxsplit=1)[0]
    same_zone = f"{first},subnet-01234567:us-west-2a:rtb-01234567"
    assert "a zone is there twice" in refusal(vpc_id=VPC, private_subnets=same_zone)
    same_subnet = f"{first},{first.replace('2a', '2b')}"
    assert "a subnet is there twice" in refusal(vpc_id=VPC, private_subnets=same_subnet)


@pytest.mark.parametrize("days", [2, 0, -1, 4000])
def test_retention_that_cloudwatch_does_not_offer_is_refused(days: int) -> None:
    message = refusal(flow_log_retention_days=days)
    assert message.startswith(f"context key flow_log_retention_days = {days}: CloudWatch Logs")
    assert "allowed is one of 1, 3, 5, 7," in message


def test_an_unknown_instance_type_is_answered_with_the_nearest() -> None:
    message = refusal(planned_instance_type="ml.p4d.24xl", planned_instance_count="1")
    assert message.startswith("context key planned_instance_type = 'ml.p4d.24xl': ")
    assert "Did you mean p4d.24xlarge" in message
