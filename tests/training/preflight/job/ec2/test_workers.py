"""Workers that can come, and those that cannot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.preflight.job.ec2.conftest import NAME, MakeGroup
from tests.training.preflight.stacks.conftest import Network, Stub, codes_of, only_finding_of
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.preflight.job.ec2.worker_group import WorkerGroup
from training.preflight.job.ec2.workers import (
    GroupTakesTheWorkers,
    NodesReachEachOther,
    ReservationHasRoom,
    TypeIsInTheZone,
)

RESERVATION = "cr-0123456789abcdef0"


def test_a_group_that_can_grow_passes(make_group: MakeGroup) -> None:
    assert codes_of(GroupTakesTheWorkers(make_group(most=4), 4, 8)) == []


def test_a_group_that_cannot_says_how_to_enlarge_it(make_group: MakeGroup) -> None:
    check = GroupTakesTheWorkers(make_group(most=4), 5, 8)
    finding = only_finding_of(check, "worker-group-too-small")
    assert finding.message == (
        f"the worker group {NAME} has at most 4 instances, and the job takes 5. Take fewer, or "
        "raise it: cdk deploy ClusterStack -c cluster_max_workers=5"
    )
    assert (finding.path, finding.severity) == ("instances.count", "error")


def test_what_the_outputs_tell_is_not_told_twice(make_group: MakeGroup) -> None:
    assert codes_of(GroupTakesTheWorkers(make_group(most=4), 5, 4)) == []


def test_a_group_that_is_gone_is_named(aws: Clients) -> None:
    group = WorkerGroup(aws.autoscaling, aws.ec2, "gone")
    assert only_finding_of(GroupTakesTheWorkers(group, 1, 8), "worker-group-missing").path == "gone"
    # The others have nothing to say then.
    assert codes_of(ReservationHasRoom(aws.ec2, group, 1)) == []


@pytest.mark.parametrize(("workers", "codes"), [(2, []), (3, ["worker-group-suspended"])])
def test_a_group_that_starts_nothing_is_told_where_it_must(
    aws: Clients, make_group: MakeGroup, workers: int, codes: list[str]
) -> None:
    group = make_group(2)
    aws.boto("autoscaling").suspend_processes(
        AutoScalingGroupName=NAME, ScalingProcesses=["Launch"]
    )
    assert codes_of(GroupTakesTheWorkers(group, workers, 8)) == codes


def in_zone(stub: Stub, group: WorkerGroup, *zones: str) -> TypeIsInTheZone:
    offers = [{"Location": zone} for zone in zones]
    filters = [{"Name": "instance-type", "Values": ["p4d.24xlarge"]}]
    request = {"LocationType": "availability-zone", "Filters": filters}
    answer = {"InstanceTypeOfferings": offers}
    ec2 = Ec2(stub("ec2", ("describe_instance_type_offerings", answer, request)))
    return TypeIsInTheZone(ec2, group, "p4d.24xlarge", "us-east-1c")


def test_a_type_that_the_groups_zone_has_passes(stub: Stub, make_group: MakeGroup) -> None:
    assert codes_of(in_zone(stub, make_group(), "us-east-1b", "us-east-1a")) == []


@pytest.mark.parametrize(
    ("zones", "said"),
    [
        (["us-east-1d", "us-east-1b"], "is not in us-east-1a, where their group is (it is in us-"),
        ([], "(it is in no zone of this region). Deploy ClusterStack with another cluster_worker"),
    ],
)
def test_a_type_that_the_zone_lacks_never_comes(
    stub: Stub, make_group: MakeGroup, zones: list[str], said: str
) -> None:
    finding = only_finding_of(in_zone(stub, make_group(), *zones), "instance-type-not-in-zone")
    assert said in finding.message


def reserved(stub: Stub, group: WorkerGroup, found: dict[str, Any] | str) -> ReservationHasRoom:
    answer = found if isinstance(found, str) else {"CapacityReservations": [found]}
    request = {"CapacityReservationIds": [RESERVATION]}
    ec2 = Ec2(stub("ec2", ("describe_capacity_reservations", answer, request)))
    return ReservationHasRoom(ec2, group, 4)


TARGET = {"CapacityReservationTarget": {"CapacityReservationId": RESERVATION}}


def test_a_reservation_needs_room_for_what_is_still_to_come(
    stub: Stub, make_group: MakeGroup
) -> None:
    group = make_group(1, CapacityReservationSpecification=TARGET)
    state = {"State": "active", "AvailableInstanceCount": 3}
    assert codes_of(reserved(stub, group, state)) == []
    full = reserved(stub, group, {**state, "AvailableInstanceCount": 2})
    assert only_finding_of(full, "reservation-full").message == (
        f"capacity reservation {RESERVATION} has 2 free instance(s), and 3 more are needed. Take "
        "fewer workers, or enlarge it"
    )


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        (
            "InvalidCapacityReservationId.NotFound",
            "reservation-missing",
            f"there is no capacity reservation {RESERVATION} in this account",
        ),
        (
            {
                "State": "scheduled",
                "AvailableInstanceCount": 4,
                "StartDate": datetime(2026, 2, 3, 11, 30, tzinfo=UTC),
                "EndDate": datetime(2026, 2, 5, 11, 30, tzinfo=UTC),
            },
            "reservation-not-active",
            "is scheduled, from 2026-02-03 11:30 UTC to 2026-02-05 11:30 UTC, not active",
        ),
    ],
)
def test_a_reservation_that_has_not_begun_or_is_not_there_is_told(
    stub: Stub, make_group: MakeGroup, found: dict[str, Any] | str, code: str, said: str
) -> None:
    group = make_group(CapacityReservationSpecification=TARGET)
    assert said in only_finding_of(reserved(stub, group, found), code).message


def test_without_reservation_nobody_is_asked(aws: Clients, make_group: MakeGroup) -> None:
    assert codes_of(ReservationHasRoom(Ec2(None), make_group(), 4)) == []


def test_efa_wants_the_group_named_both_ways(
    aws: Clients, network: Network, make_group: MakeGroup
) -> None:
    network.allow(network.group_id, network.group_id, 0, 0, protocol="-1")
    plain = make_group(name="plain")
    assert codes_of(NodesReachEachOther(aws.ec2, plain, network.group_id, 2)) == []
    interfaces = [{"DeviceIndex": 0, "InterfaceType": "efa"}]
    with_efa = make_group(name="with-efa", NetworkInterfaces=interfaces)
    found = codes_of(NodesReachEachOther(aws.ec2, with_efa, network.group_id, 2))
    assert found == ["job-group-without-efa"]
