"""The zones of a new VPC."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    ZONES,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.preflight.stacks.planned_zones import PlannedZones
from training.preflight.stacks.zones import ZonesAreThere

IN_REGION = {"Filters": [{"Name": "zone-type", "Values": ["availability-zone"]}]}
DEFAULT_SUBNETS = {"Filters": [{"Name": "default-for-az", "Values": ["true"]}]}


def check(ec2: Ec2, *, names: tuple[str, ...] | None = None, count: int = 3) -> ZonesAreThere:
    return ZonesAreThere(
        ec2=ec2,
        region=REGION,
        planned=PlannedZones(names, count),
        names_key="availability_zones",
        count_key="zone_count",
    )


def zones_answer(**states: str) -> dict[str, Any]:
    return {
        "AvailabilityZones": [
            {"ZoneName": f"{REGION}{letter}", "State": state} for letter, state in states.items()
        ]
    }


def default_subnets(*letters: str) -> dict[str, Any]:
    return {"Subnets": [{"AvailabilityZone": f"{REGION}{letter}"} for letter in letters]}


@pytest.mark.parametrize(("names", "count"), [(None, 3), (None, 6), (ZONES, 3)])
def test_zones_that_are_there_pass(aws: Clients, names: tuple[str, ...] | None, count: int) -> None:
    assert codes_of(check(aws.ec2, names=names, count=count)) == []


def test_a_zone_that_the_account_lacks_is_named_with_those_it_has(aws: Clients) -> None:
    finding = only_finding_of(check(aws.ec2, names=(*ZONES[:2], "us-east-1z")), "zone-unknown")
    assert finding.path == "availability_zones"
    assert "names us-east-1z" in finding.message
    assert "us-east-1a, us-east-1b" in finding.message


def test_a_zone_that_does_not_work_is_an_error(stub: Stub) -> None:
    answer = zones_answer(a="available", b="impaired", c="available")
    ec2 = Ec2(stub("ec2", ("describe_availability_zones", answer, IN_REGION)))
    finding = only_finding_of(check(ec2, names=ZONES), "zone-unavailable")
    assert "us-east-1b, which is impaired" in finding.message


def test_a_region_with_too_few_zones_says_how_many_it_has(stub: Stub) -> None:
    answer = zones_answer(a="available", b="available", c="unavailable")
    ec2 = Ec2(stub("ec2", ("describe_availability_zones", answer, IN_REGION)))
    finding = only_finding_of(check(ec2), "zones-too-few")
    assert finding.path == "zone_count"
    assert "us-east-1 has 2 (us-east-1a, us-east-1b)" in finding.message


def test_zones_that_cloudformation_does_not_find_are_to_be_named(stub: Stub) -> None:
    zones = ("describe_availability_zones", zones_answer(**dict.fromkeys("abc", "available")))
    ec2 = Ec2(
        stub(
            "ec2",
            (*zones, IN_REGION),
            (*zones, IN_REGION),
            ("describe_subnets", default_subnets("a", "c"), DEFAULT_SUBNETS),
        )
    )
    finding = only_finding_of(check(ec2), "zones-without-default-subnet")
    assert "finds only us-east-1a, us-east-1c" in finding.message
    assert "availability_zones=us-east-1a,us-east-1b,us-east-1c" in finding.message


def test_without_any_default_subnet_cloudformation_finds_all_zones(stub: Stub) -> None:
    zones = ("describe_availability_zones", zones_answer(**dict.fromkeys("abc", "available")))
    ec2 = Ec2(
        stub(
            "ec2",
            (*zones, IN_REGION),
            (*zones, IN_REGION),
            ("describe_subnets", default_subnets(), DEFAULT_SUBNETS),
        )
    )
    assert codes_of(check(ec2)) == []
