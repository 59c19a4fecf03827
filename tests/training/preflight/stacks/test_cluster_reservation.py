"""The reserved capacity of the cluster's workers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.ec2 import Ec2
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.planned_zones import PlannedZones
from training.preflight.stacks.reservation import ReservationIsFit

A_TO_F = PlannedZones(("us-east-1a", "us-east-1f"), 2)


def workers(first: int = 0) -> PlannedNode:
    return PlannedNode("worker", "p4d.24xlarge", first, 4)


ID = "cr-0123456789abcdef0"


def reservation(stub: Stub, **more: Any) -> Ec2:
    found = {
        "CapacityReservationId": ID,
        "InstanceType": "p4d.24xlarge",
        "AvailabilityZone": "us-east-1a",
        "State": "active",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 4,
        "ReservationType": "default",
        **more,
    }
    call = (
        "describe_capacity_reservations",
        {"CapacityReservations": [found]},
        {"CapacityReservationIds": [ID]},
    )
    return Ec2(stub("ec2", call))


def fit(ec2: Ec2, node: PlannedNode, *, is_block: bool = False) -> ReservationIsFit:
    return ReservationIsFit(
        ec2=ec2,
        region=REGION,
        reservation_id=ID,
        is_block=is_block,
        workers=node,
        planned=A_TO_F,
        zone=1,
    )


BEGINS = datetime(2026, 12, 24, 11, 30, tzinfo=UTC)

RESERVATIONS: list[tuple[dict[str, Any], bool, str, str]] = [
    ({"State": "cancelled"}, False, "cluster-reservation-not-active", "is cancelled"),
    (
        {"State": "scheduled", "StartDate": BEGINS, "ReservationType": "capacity-block"},
        True,
        "cluster-reservation-not-active",
        "begins 2026-12-24 11:30 UTC: deploy with cluster_workers=0 until then",
    ),
    (
        {"InstanceType": "p5.48xlarge"},
        False,
        "cluster-reservation-of-other-type",
        "is of p5.48xlarge. Make them the same",
    ),
    (
        {"AvailabilityZone": "us-east-1f"},
        False,
        "cluster-reservation-in-other-zone",
        "is in us-east-1f. Set cluster_zone=2",
    ),
    (
        {"AvailabilityZone": "us-east-1c"},
        False,
        "cluster-reservation-in-other-zone",
        "Have a private subnet in us-east-1c",
    ),
    (
        {"ReservationType": "capacity-block"},
        False,
        "cluster-reservation-of-other-kind",
        "Set cluster_capacity_block=true",
    ),
    (
        {},
        True,
        "cluster-reservation-of-other-kind",
        "is no Capacity Block. Set cluster_capacity_block=false",
    ),
    (
        {"TotalInstanceCount": 2},
        False,
        "cluster-reservation-too-small",
        "has 2 instances: workers start in it alone. Set cluster_max_workers=2",
    ),
]


@pytest.mark.parametrize(("more", "is_block", "code", "message"), RESERVATIONS)
def test_a_reservation_that_does_not_fit_is_told_why(
    stub: Stub, more: dict[str, Any], is_block: bool, code: str, message: str
) -> None:
    check = fit(reservation(stub, **more), workers(first=1), is_block=is_block)
    assert message in only_finding_of(check, code).message


def test_a_reservation_that_fits_passes(stub: Stub) -> None:
    assert codes_of(fit(reservation(stub), workers(first=4))) == []


def test_a_block_that_has_not_begun_is_no_error_without_workers(stub: Stub) -> None:
    block = {"State": "scheduled", "StartDate": BEGINS, "ReservationType": "capacity-block"}
    assert codes_of(fit(reservation(stub, **block), workers(), is_block=True)) == []


def test_an_unknown_reservation_is_missing(stub: Stub) -> None:
    call = (
        "describe_capacity_reservations",
        "InvalidCapacityReservationId.NotFound",
        {"CapacityReservationIds": [ID]},
    )
    check = fit(Ec2(stub("ec2", call)), workers())
    finding = only_finding_of(check, "cluster-reservation-missing")
    assert f"is {ID}, which this account does not have in us-east-1" in finding.message
