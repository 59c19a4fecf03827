"""Groups that keep their size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.cluster_template import UBUNTU_22

_number = itertools.count()


@dataclass(frozen=True)
class Group:
    """A group of one test, in a VPC of its own."""

    aws: LocalAws
    name: str
    template_id: str
    vpc_id: str

    @property
    def client(self) -> Any:
        return self.aws.client("autoscaling")

    def describe(self) -> dict[str, Any]:
        found = self.client.describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])
        described: dict[str, Any] = found["AutoScalingGroups"][0]
        return described

    def ids(self) -> list[str]:
        return [each["InstanceId"] for each in self.describe()["Instances"]]

    def activities(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.describe_scaling_activities(
            AutoScalingGroupName=self.name
        )["Activities"]
        return found

    def want(self, size: int) -> None:
        self.client.set_desired_capacity(AutoScalingGroupName=self.name, DesiredCapacity=size)


@pytest.fixture
def group(local_aws: LocalAws) -> Iterator[Group]:
    """Two of at most four instances, of a type that no other test uses."""
    ec2, name = local_aws.client("ec2"), f"group{next(_number)}"
    vpc_id = ec2.create_vpc(CidrBlock="10.9.0.0/20")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(
            VpcId=vpc_id, CidrBlock=f"10.9.{number}.0/24", AvailabilityZone=f"us-east-1{zone}"
        )["Subnet"]["SubnetId"]
        for number, zone in enumerate("ab")
    ]
    ami = local_aws.client("ssm").get_parameter(Name=UBUNTU_22)["Parameter"]["Value"]
    template = ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={
            "ImageId": ami,
            "InstanceType": "g6.48xlarge",
            "InstanceMarketOptions": {"MarketType": "spot"},
        },
    )["LaunchTemplate"]["LaunchTemplateId"]
    made = Group(local_aws, name, template, vpc_id)
    made.client.create_auto_scaling_group(
        AutoScalingGroupName=name,
        MinSize=1,
        MaxSize=4,
        DesiredCapacity=2,
        LaunchTemplate={"LaunchTemplateId": template, "Version": "$Latest"},
        VPCZoneIdentifier=",".join(subnets),
    )
    yield made
    made.client.delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
    for subnet in subnets:
        # Nothing of the instances is left in it.
        ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc_id)
    ec2.delete_launch_template(LaunchTemplateId=template)


@pytest.fixture
def capacity(local_aws: LocalAws) -> Iterator[Any]:
    """Sets how many instances of the groups' type there are."""
    ssm, name = local_aws.client("ssm"), "/localaws/capacity/g6.48xlarge"

    def set_to(most: int) -> None:
        ssm.put_parameter(Name=name, Value=str(most), Type="String", Overwrite=True)

    set_to(100)
    yield set_to
    ssm.delete_parameter(Name=name)


def test_ended_instance_is_replaced_and_the_reason_told(group: Group) -> None:
    gone, kept = group.ids()
    group.aws.client("ec2").terminate_instances(InstanceIds=[gone])
    assert kept in group.ids()
    (new,) = set(group.ids()) - {kept}
    assert new != gone
    newest, before = group.activities()[:2]
    assert newest["Description"] == f"Launching a new EC2 instance: {new}"
    assert before["Description"] == f"Terminating EC2 instance: {gone}"
    assert "EC2 health check indicating it has been terminated" in before["Cause"]


def test_unhealthy_instance_is_ended_and_replaced(group: Group) -> None:
    sick = group.ids()[0]
    group.client.set_instance_health(InstanceId=sick, HealthStatus="Unhealthy")
    assert sick not in group.ids()
    assert len(group.ids()) == 2
    found = group.aws.client("ec2").describe_instances(InstanceIds=[sick])["Reservations"]
    assert found[0]["Instances"][0]["State"]["Name"] == "terminated"
    assert found[0]["Instances"][0]["InstanceLifecycle"] == "spot"


def test_suspended_group_lets_its_instances_be(group: Group) -> None:
    group.client.suspend_processes(
        AutoScalingGroupName=group.name, ScalingProcesses=["HealthCheck", "ReplaceUnhealthy"]
    )
    ids = group.ids()
    group.aws.client("ec2").terminate_instances(InstanceIds=ids[:1])
    assert group.ids() == ids
    group.client.resume_processes(AutoScalingGroupName=group.name, ScalingProcesses=["HealthCheck"])
    assert group.ids() == ids
    group.client.resume_processes(AutoScalingGroupName=group.name)
    assert ids[0] not in group.ids()
    assert len(group.ids()) == 2


def test_instance_is_ended_with_or_without_a_new_one(group: Group) -> None:
    first, second = group.ids()
    end = group.client.terminate_instance_in_auto_scaling_group
    end(InstanceId=first, ShouldDecrementDesiredCapacity=False)
    assert len(group.ids()) == 2
    activity = end(InstanceId=second, ShouldDecrementDesiredCapacity=True)["Activity"]
    assert activity["Description"] == f"Terminating EC2 instance: {second}"
    assert (group.describe()["DesiredCapacity"], len(group.ids())) == (1, 1)
    with pytest.raises(ClientError, match="desiredSize equals minSize"):
        end(InstanceId=group.ids()[0], ShouldDecrementDesiredCapacity=True)


def test_oldest_template_goes_first_from_the_fullest_zone(group: Group) -> None:
    old = set(group.ids())
    group.aws.client("ec2").create_launch_template_version(
        LaunchTemplateId=group.template_id,
        LaunchTemplateData={
            "ImageId": group.aws.client("ssm").get_parameter(Name=UBUNTU_22)["Parameter"]["Value"],
            "InstanceType": "g6.48xlarge",
        },
    )
    group.want(4)
    assert len(set(group.ids()) - old) == 2
    group.want(2)
    assert not set(group.ids()) & old
    assert {each["LaunchTemplate"]["Version"] for each in group.describe()["Instances"]} == {"2"}
    zones = {each["AvailabilityZone"] for each in group.describe()["Instances"]}
    assert zones == {"us-east-1a", "us-east-1b"}


@pytest.mark.parametrize(("size", "message"), [(5, "above max value 4"), (0, "below min value 1")])
def test_size_out_of_bounds_is_refused(group: Group, size: int, message: str) -> None:
    with pytest.raises(ClientError, match=message):
        group.want(size)
    assert len(group.ids()) == 2


def test_new_bounds_take_the_desired_size_along(group: Group) -> None:
    change = group.client.update_auto_scaling_group
    change(AutoScalingGroupName=group.name, MinSize=3)
    assert (group.describe()["DesiredCapacity"], len(group.ids())) == (3, 3)
    change(AutoScalingGroupName=group.name, MinSize=0, MaxSize=1)
    assert (group.describe()["DesiredCapacity"], len(group.ids())) == (1, 1)
    with pytest.raises(ClientError, match="must be greater than or equal to"):
        change(AutoScalingGroupName=group.name, MinSize=3)


def test_group_with_instances_is_deleted_by_force_only(group: Group) -> None:
    with pytest.raises(ClientError, match="while there are instances"):
        group.client.delete_auto_scaling_group(AutoScalingGroupName=group.name)


def test_what_cannot_be_had_is_told_and_tried_again(group: Group, capacity: Any) -> None:
    capacity(2)
    group.want(4)
    assert (group.describe()["DesiredCapacity"], len(group.ids())) == (4, 2)
    failed = group.activities()[0]
    assert failed["StatusCode"] == "Failed"
    assert "do not have sufficient g6.48xlarge capacity" in failed["StatusMessage"]
    capacity(100)
    # Another request makes it try at once; by itself it does every few seconds.
    group.want(4)
    assert len(group.ids()) == 4


def test_activities_come_in_pages(group: Group) -> None:
    pages = group.client.get_paginator("describe_scaling_activities")
    found = pages.paginate(AutoScalingGroupName=group.name, PaginationConfig={"PageSize": 1})
    ids = [each["ActivityId"] for page in found for each in page["Activities"]]
    assert len(ids) == len(set(ids)) == 2
