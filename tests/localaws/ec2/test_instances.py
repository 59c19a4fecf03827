"""Instances, placement groups and capacity reservations as EC2 has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.cluster_template import UBUNTU_22

_number = itertools.count()


@pytest.fixture
def ami(local_aws: LocalAws) -> str:
    return str(local_aws.client("ssm").get_parameter(Name=UBUNTU_22)["Parameter"]["Value"])


@pytest.fixture
def run(local_aws: LocalAws, ami: str) -> Iterator[Any]:
    """Starts one instance from a launch template of the given data."""
    ec2, made = local_aws.client("ec2"), []

    def start(count: int = 1, **data: Any) -> list[dict[str, Any]]:
        name = f"instance{next(_number)}"
        ec2.create_launch_template(
            LaunchTemplateName=name,
            LaunchTemplateData={"ImageId": ami, "InstanceType": "g5.24xlarge", **data},
        )
        template = {"LaunchTemplateName": name}
        started: list[dict[str, Any]] = ec2.run_instances(
            LaunchTemplate=template, MinCount=count, MaxCount=count
        )["Instances"]
        made.extend(each["InstanceId"] for each in started)
        return started

    yield start
    if made:
        ec2.terminate_instances(InstanceIds=made)


def test_deep_learning_images_are_those_of_aws(local_aws: LocalAws, ami: str) -> None:
    ec2 = local_aws.client("ec2")
    (image,) = ec2.describe_images(ImageIds=[ami])["Images"]
    assert image["Name"].startswith("Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04) ")
    assert (image["Architecture"], image["ImageOwnerAlias"]) == ("x86_64", "amazon")
    by_path = local_aws.client("ssm").get_parameters_by_path(
        Path="/aws/service/deeplearning/ami/arm64", Recursive=True
    )["Parameters"]
    ids = [each["Value"] for each in by_path]
    found = ec2.describe_images(ImageIds=ids)["Images"]
    assert {each["Architecture"] for each in found} == {"arm64"}
    west = local_aws.session().client(
        "ssm", endpoint_url=local_aws.endpoint, region_name="us-west-2"
    )
    assert west.get_parameter(Name=UBUNTU_22)["Parameter"]["Value"] != ami


def test_placement_group_is_kept_while_it_is_used(local_aws: LocalAws, run: Any) -> None:
    ec2, name = local_aws.client("ec2"), f"close{next(_number)}"
    with pytest.raises(ClientError, match=f"Placement Group '{name}' is unknown"):
        run(Placement={"GroupName": name})
    ec2.create_placement_group(GroupName=name, Strategy="cluster")
    with pytest.raises(ClientError, match="already exists"):
        ec2.create_placement_group(GroupName=name, Strategy="cluster")
    (one,) = run(Placement={"GroupName": name})
    assert one["Placement"]["GroupName"] == name
    with pytest.raises(ClientError, match="is in use and may not be deleted"):
        ec2.delete_placement_group(GroupName=name)
    ec2.terminate_instances(InstanceIds=[one["InstanceId"]])
    ec2.delete_placement_group(GroupName=name)
    with pytest.raises(ClientError, match="is unknown"):
        ec2.describe_placement_groups(GroupNames=[name])


def target(id_: str) -> dict[str, Any]:
    reserved = {"CapacityReservationTarget": {"CapacityReservationId": id_}}
    return {"CapacityReservationSpecification": reserved}


def test_reservation_gives_its_places_and_gets_them_back(local_aws: LocalAws, run: Any) -> None:
    ec2 = local_aws.client("ec2")
    made = ec2.create_capacity_reservation(
        InstanceType="g5.24xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-east-1a",
        InstanceCount=1,
    )["CapacityReservation"]
    id_ = made["CapacityReservationId"]

    def left() -> int:
        found = ec2.describe_capacity_reservations(CapacityReservationIds=[id_])
        return int(found["CapacityReservations"][0]["AvailableInstanceCount"])

    with pytest.raises(ClientError, match=r"not for g5\.48xlarge in us-east-1a"):
        run(InstanceType="g5.48xlarge", **target(id_))
    with pytest.raises(ClientError, match=r"InvalidGroup\.NotFound"):
        run(SecurityGroupIds=["sg-0123456789abcdef0"], **target(id_))
    assert left() == 1
    (one,) = run(**target(id_))
    assert left() == 0
    with pytest.raises(ClientError, match="does not have sufficient"):
        run(**target(id_))
    ec2.terminate_instances(InstanceIds=[one["InstanceId"]])
    assert left() == 1
    ec2.cancel_capacity_reservation(CapacityReservationId=id_)
    with pytest.raises(ClientError, match="does not exist or is not active"):
        run(**target(id_))


def test_all_instances_are_started_or_none(local_aws: LocalAws, run: Any) -> None:
    ssm, name = local_aws.client("ssm"), "/localaws/capacity/g5.24xlarge"
    ssm.put_parameter(Name=name, Value="2", Type="String", Overwrite=True)
    try:
        with pytest.raises(ClientError, match="InsufficientInstanceCapacity"):
            run(count=3)
        assert [each["State"]["Name"] for each in run(count=2)] == ["pending", "pending"]
    finally:
        ssm.delete_parameter(Name=name)


def test_type_is_refused_in_a_zone_without_it(run: Any) -> None:
    with pytest.raises(ClientError, match=r"us-east-1f\). Please retry .* us-east-1a"):
        run(InstanceType="g7e.48xlarge", Placement={"AvailabilityZone": "us-east-1f"})
    # EC2 lists P3 no longer, and has it still.
    (old,) = run(InstanceType="p3.16xlarge")
    assert old["InstanceType"] == "p3.16xlarge"
