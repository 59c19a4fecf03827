"""The planned instance type."""

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
from training.preflight.stacks.instance_types import InstanceTypeIsOffered
from training.preflight.stacks.planned_zones import PlannedZones


def check(ec2: Ec2, name: str = "ml.p4d.24xlarge", fsx_zone: int | None = 1) -> Any:
    return InstanceTypeIsOffered(
        ec2=ec2,
        region=REGION,
        instance_type=name,
        type_key="planned_instance_type",
        planned=PlannedZones(ZONES, 3),
        zones_key="availability_zones",
        fsx_zone=fsx_zone,
    )


def offered_in(stub: Stub, *letters: str) -> Ec2:
    answer = {
        "InstanceTypeOfferings": [
            {"InstanceType": "p4d.24xlarge", "Location": f"{REGION}{letter}"} for letter in letters
        ]
    }
    request = {
        "LocationType": "availability-zone",
        "Filters": [{"Name": "instance-type", "Values": ["p4d.24xlarge"]}],
    }
    return Ec2(stub("ec2", ("describe_instance_type_offerings", answer, request)))


@pytest.mark.parametrize(
    ("letters", "fsx_zone", "codes"),
    [
        ("abc", 1, []),
        ("abcdef", None, []),
        ("", 1, ["instance-type-not-in-region"]),
        ("de", 1, ["instance-type-not-in-zones"]),
        ("bc", 1, ["instance-type-not-in-fsx-zone"]),
        ("bc", 2, ["instance-type-not-in-some-zones"]),
        ("bc", None, ["instance-type-not-in-some-zones"]),
    ],
)
def test_it_has_to_be_offered_in_a_zone_and_in_that_of_fsx(
    stub: Stub, letters: str, fsx_zone: int | None, codes: list[str]
) -> None:
    assert codes_of(check(offered_in(stub, *letters), fsx_zone=fsx_zone)) == codes


def test_the_message_says_where_it_is_offered_and_which_fsx_zone_would_do(stub: Stub) -> None:
    finding = only_finding_of(check(offered_in(stub, "b", "c")), "instance-type-not-in-fsx-zone")
    assert finding.path == "fsx_zone"
    assert "in us-east-1a (fsx_zone = 1)" in finding.message
    assert "Set fsx_zone to 2 or 3" in finding.message
    assert "offered in us-east-1b, us-east-1c" in finding.message


def test_types_are_found_among_those_of_a_region(aws: Clients) -> None:
    assert codes_of(check(aws.ec2, "g5.xlarge", fsx_zone=None)) == []
