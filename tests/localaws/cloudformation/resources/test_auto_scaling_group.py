"""Groups of instances, made and rolled by a stack where no instance really runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.conftest import LocalAws
from tests.localaws.cloudformation.cluster_template import (
    PARAMETERS,
    UBUNTU_22,
    UBUNTU_24,
    USER_DATA,
    cluster,
    encoded,
    instances,
    launch_template,
    members,
    reasons,
    shown,
)
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

_number = itertools.count()


def create(stack: Stack, resources: Resources) -> dict[str, object]:
    made = stack.create(resources, Parameters=PARAMETERS)
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    return made


def update(stack: Stack, resources: Resources, *, image: str = UBUNTU_22) -> tuple[str, str | None]:
    values = [{"ParameterKey": "Image", "ParameterValue": image}]
    changed = stack.update(resources, arguments={"Parameters": values}, Parameters=PARAMETERS)
    return changed["StackStatus"], changed.get("StackStatusReason")


def drifted(stack: Stack) -> dict[str, object]:
    stack.cloudformation.detect_stack_drift(StackName=stack.name)
    found = stack.cloudformation.describe_stack_resource_drifts(
        StackName=stack.name, StackResourceDriftStatusFilters=["MODIFIED", "DELETED"]
    )["StackResourceDrifts"]
    return {each["LogicalResourceId"]: each["PropertyDifferences"] for each in found}


@pytest.fixture
def capacity(local_aws: LocalAws) -> Iterator[str]:
    """An instance type that no other test uses, with at most two instances of it."""
    ssm, name = local_aws.client("ssm"), "/localaws/capacity/g5.12xlarge"
    ssm.put_parameter(Name=name, Value="2", Type="String", Overwrite=True)
    yield "g5.12xlarge"
    ssm.delete_parameter(Name=name)


def test_instances_are_as_the_launch_template_says(local_aws: LocalAws, stack: Stack) -> None:
    resources = cluster(desired=2, signals={"Count": 2, "Timeout": "PT15M"})
    create(stack, resources)
    ids = stack.ids()
    made = instances(local_aws, members(local_aws, stack))
    assert len(made) == 2
    ami = local_aws.client("ssm").get_parameter(Name=UBUNTU_22)["Parameter"]["Value"]
    for one in made:
        assert (one["ImageId"], one["InstanceType"]) == (ami, "p4d.24xlarge")
        assert one["MetadataOptions"]["HttpTokens"] == "required"
        assert one["Placement"]["GroupName"] == ids["Close"]
        assert one["IamInstanceProfile"]["Arn"].endswith(f"/{ids['Profile']}")
        assert [nic["InterfaceType"] for nic in one["NetworkInterfaces"]] == ["efa"] * 4
        assert {g["GroupId"] for g in one["SecurityGroups"]} == {ids["Nodes"]}
        assert "PublicIpAddress" not in one
        tags = {tag["Key"]: tag["Value"] for tag in one["Tags"]}
        assert (tags["role"], tags["aws:autoscaling:groupName"]) == ("worker", ids["Workers"])
    data = local_aws.client("ec2").describe_instance_attribute(
        InstanceId=made[0]["InstanceId"], Attribute="userData"
    )
    assert data["UserData"]["Value"] == encoded(USER_DATA)
    assert drifted(stack) == {}

    stack.delete()
    assert {
        one["State"]["Name"] for one in instances(local_aws, {m["InstanceId"] for m in made})
    } == {"terminated"}
    groups = local_aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert ids["Workers"] not in str(groups)


def test_another_ami_rolls_every_instance_in_batches(local_aws: LocalAws, stack: Stack) -> None:
    resources = cluster(desired=3, rolling={"MaxBatchSize": 2})
    create(stack, resources)
    before = members(local_aws, stack)
    assert update(stack, resources, image=UBUNTU_24) == ("UPDATE_COMPLETE", None)
    after = members(local_aws, stack)
    assert len(after) == 3
    assert not after & before
    ami = local_aws.client("ssm").get_parameter(Name=UBUNTU_24)["Parameter"]["Value"]
    assert {one["ImageId"] for one in instances(local_aws, after)} == {ami}
    told = reasons(stack)
    assert told[0].startswith(
        "Rolling update initiated. Terminating 3 obsolete instance(s) in batches of 2. Waiting on "
        "resource signals with a timeout of PT15M"
    )
    assert told[-1].endswith("(Progress 100%).")
    assert shown(local_aws, stack)["SuspendedProcesses"] == []
    assert drifted(stack) == {}
    stack.delete()


def test_no_more_are_ended_than_must_stay_in_service(local_aws: LocalAws, stack: Stack) -> None:
    resources = cluster(desired=2, most=3, rolling={"MaxBatchSize": 2, "MinInstancesInService": 2})
    create(stack, resources)
    before = members(local_aws, stack)
    assert update(stack, resources, image=UBUNTU_24) == ("UPDATE_COMPLETE", None)
    group = shown(local_aws, stack)
    assert (group["MinSize"], group["DesiredCapacity"]) == (0, 2)
    assert not members(local_aws, stack) & before
    assert len(members(local_aws, stack)) == 2
    told = "\n".join(reasons(stack))
    assert "Temporarily setting autoscaling group MinSize and DesiredCapacity to 3." in told
    assert "in batches of 1, while keeping at least 2 instance(s) in service" in told
    assert "replacing with 0 new instance(s)" in told
    stack.delete()


def test_group_without_instances_has_nothing_to_roll(local_aws: LocalAws, stack: Stack) -> None:
    resources = cluster(desired=0)
    create(stack, resources)
    assert update(stack, resources, image=UBUNTU_24) == ("UPDATE_COMPLETE", None)
    assert members(local_aws, stack) == set()
    local_aws.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=stack.ids()["Workers"], DesiredCapacity=1
    )
    ami = local_aws.client("ssm").get_parameter(Name=UBUNTU_24)["Parameter"]["Value"]
    (one,) = instances(local_aws, members(local_aws, stack))
    assert one["ImageId"] == ami
    stack.delete()


def test_another_subnet_moves_the_instances(local_aws: LocalAws, stack: Stack) -> None:
    create(stack, cluster(desired=2))
    before = members(local_aws, stack)
    assert update(stack, cluster(desired=2, subnets=("SubnetB",)))[0] == "UPDATE_COMPLETE"
    after = members(local_aws, stack)
    assert not after & before
    zones = {one["Placement"]["AvailabilityZone"] for one in instances(local_aws, after)}
    assert zones == {"us-east-1b"}
    stack.delete()


def test_instances_are_spread_over_the_subnets(local_aws: LocalAws, stack: Stack) -> None:
    create(stack, cluster(desired=4, subnets=("SubnetA", "SubnetB")))
    made = instances(local_aws, members(local_aws, stack))
    zones = [one["Placement"]["AvailabilityZone"] for one in made]
    assert sorted(zones) == ["us-east-1a"] * 2 + ["us-east-1b"] * 2
    stack.delete()


@pytest.mark.parametrize(("keeps_sizes", "expected"), [(True, 3), (False, 1)])
def test_size_set_by_hand_is_kept_where_the_policy_says(
    local_aws: LocalAws, stack: Stack, keeps_sizes: bool, expected: int
) -> None:
    create(stack, cluster(desired=1, keeps_sizes=keeps_sizes))
    local_aws.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=stack.ids()["Workers"], DesiredCapacity=3
    )
    assert update(stack, cluster(desired=1, most=8, keeps_sizes=keeps_sizes))[0] == (
        "UPDATE_COMPLETE"
    )
    group = shown(local_aws, stack)
    assert (group["MaxSize"], group["DesiredCapacity"]) == (8, expected)
    assert len(members(local_aws, stack)) == expected
    stack.delete()


def test_tags_of_the_stack_reach_the_instances(local_aws: LocalAws, stack: Stack) -> None:
    tags = [{"Key": "team", "Value": "vision"}]
    made = stack.create(cluster(desired=1), arguments={"Tags": tags}, Parameters=PARAMETERS)
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    (one,) = instances(local_aws, members(local_aws, stack))
    assert {"Key": "team", "Value": "vision"} in one["Tags"]
    assert drifted(stack) == {}
    stack.delete()


def test_creation_fails_with_the_reason_of_the_group(stack: Stack, capacity: str) -> None:
    small = launch_template(InstanceType=capacity)
    made = stack.create(cluster(small, desired=3), Parameters=PARAMETERS)
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "Group did not stabilize. 2 of 3 instances are in service" in made["StackStatusReason"]
    assert f"do not have sufficient {capacity} capacity" in made["StackStatusReason"]
    stack.delete()


def test_failed_roll_brings_the_old_ami_back(
    local_aws: LocalAws, stack: Stack, capacity: str
) -> None:
    small = launch_template(InstanceType=capacity)
    resources = cluster(small, desired=2, rolling={"MinInstancesInService": 2})
    create(stack, resources)
    before = members(local_aws, stack)
    status, why = update(stack, resources, image=UBUNTU_24)
    assert status == "UPDATE_ROLLBACK_COMPLETE"
    assert "Workers (AWS::AutoScaling::AutoScalingGroup)" in str(why)
    assert "Unable to satisfy 100% MinSuccessfulInstancesPercent requirement" in str(why)
    group = shown(local_aws, stack)
    assert (group["DesiredCapacity"], group["SuspendedProcesses"]) == (2, [])
    assert members(local_aws, stack) == before
    ami = local_aws.client("ssm").get_parameter(Name=UBUNTU_22)["Parameter"]["Value"]
    assert {one["ImageId"] for one in instances(local_aws, before)} == {ami}
    stack.delete()


BAD = {
    "ImageId": ({"ImageId": "ami-00000000"}, "The image id '[ami-00000000]' does not exist"),
    "KeyName": ({"KeyName": "lost"}, "The key pair 'lost' does not exist"),
    "InstanceType": ({"InstanceType": "p4de.24xlarge"}, "not supported in your requested Avail"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_there_is_refused_by_name(stack: Stack, name: str) -> None:
    setting, message = BAD[name]
    made = stack.create(cluster(launch_template(**setting), desired=1), Parameters=PARAMETERS)
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert message in made["StackStatusReason"]
    stack.delete()


def test_newer_ami_behind_the_same_parameter_is_an_update(
    local_aws: LocalAws, stack: Stack
) -> None:
    ssm, name = local_aws.client("ssm"), f"/images/newest{next(_number)}"
    values = [ssm.get_parameter(Name=each)["Parameter"]["Value"] for each in (UBUNTU_22, UBUNTU_24)]
    ssm.put_parameter(Name=name, Value=values[0], Type="String")
    parameters = {"Image": {**PARAMETERS["Image"], "Default": name}}
    resources = cluster(desired=1)
    stack.create(resources, Parameters=parameters)
    before = members(local_aws, stack)
    with pytest.raises(Exception, match="No updates are to be performed"):
        stack.update(resources, Parameters=parameters)
    ssm.put_parameter(Name=name, Value=values[1], Type="String", Overwrite=True)
    changed = stack.update(resources, Parameters=parameters)
    assert changed["StackStatus"] == "UPDATE_COMPLETE"
    assert not members(local_aws, stack) & before
    stack.delete()
