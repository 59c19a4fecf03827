"""EC2, asked for more things than one request takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import Stub, session, stub, stubbed_clients
from training.aws.ec2 import Ec2

__all__ = ["session", "stub", "stubbed_clients"]

IDS = [f"i-{number:03}" for number in range(250)]


@pytest.mark.parametrize("count", [1, 200, 201])
def test_instances_are_asked_for_200_at_once(stub: Stub, count: int) -> None:
    parts = [IDS[: min(count, 200)], *([IDS[200:count]] if count > 200 else [])]
    calls: list[Any] = [
        (
            "describe_instances",
            {"Reservations": [{"Instances": [{"InstanceId": name}]} for name in part]},
            {"Filters": [{"Name": "instance-id", "Values": part}]},
        )
        for part in parts
    ]
    found = Ec2(stub("ec2", *calls)).instances(IDS[:count])
    assert list(found) == IDS[:count]


def test_statuses_are_asked_for_100_at_once(stub: Stub) -> None:
    calls: list[Any] = [
        (
            "describe_instance_status",
            {"InstanceStatuses": [{"InstanceId": name} for name in IDS[first : first + 100]]},
            {"InstanceIds": IDS[first : first + 100]},
        )
        for first in (0, 100, 200)
    ]
    # The last part has the 50 that are left.
    assert list(Ec2(stub("ec2", *calls)).instance_statuses(IDS)) == IDS


def test_of_no_instance_nobody_is_asked() -> None:
    assert Ec2(None).instances([]) == {}
    assert Ec2(None).instance_statuses([]) == {}
    assert Ec2(None).vcpus([]) == {}


def test_an_image_that_its_owner_calls_deprecated_is_there(stub: Stub) -> None:
    image = {"ImageId": "ami-1", "State": "available"}
    request = {
        "Filters": [{"Name": "image-id", "Values": ["ami-1"]}],
        "IncludeDeprecated": True,
    }
    client = stub("ec2", ("describe_images", {"Images": [image]}, request))
    assert Ec2(client).image("ami-1") == image
