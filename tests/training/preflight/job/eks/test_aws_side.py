"""What AWS is asked: the cluster, its add-ons, the node group; botocore checks both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from training.aws.autoscaling import AutoScaling
from training.aws.eks import Eks
from training.preflight.job.eks.control_plane import AddonsAreThere, ClusterIsActive
from training.preflight.job.eks.node_group import NodeGroup
from training.preflight.job.eks.nodes import GroupTakesTheNodes, TypeIsInTheZones

Stub = Callable[..., Any]

MISSING = "ResourceNotFoundException: none"


def described(**group: Any) -> dict[str, Any]:
    return {
        "nodegroup": {
            "nodegroupName": "gpu",
            "status": "ACTIVE",
            "scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 0},
            "instanceTypes": ["p4d.24xlarge"],
            "capacityType": "ON_DEMAND",
            **group,
        }
    }


def group_of(stub: Stub, answer: Any) -> NodeGroup:
    expected = {"clusterName": "mask-rcnn", "nodegroupName": "gpu"}
    client = stub("eks", ("describe_nodegroup", answer, expected))
    return NodeGroup(Eks(client), AutoScaling(None), "mask-rcnn", "gpu")


@pytest.mark.parametrize(
    ("answer", "codes", "said"),
    [
        (described(), [], ""),
        (MISSING, ["node-group-missing"], "the cluster has no node group gpu"),
        (described(status="DEGRADED"), ["node-group-not-active"], "is DEGRADED"),
        (
            described(scalingConfig={"minSize": 0, "maxSize": 1}),
            ["node-group-too-small"],
            "has at most 1 nodes, and the job takes 2. Take fewer, or raise it: cdk deploy "
            "KubernetesStack -c eks_max_nodes=2",
        ),
        (
            described(instanceTypes=["p3.16xlarge"]),
            ["node-group-other-type"],
            "starts p3.16xlarge, and the job's pods ask for a node of type p4d.24xlarge",
        ),
        (
            described(
                health={"issues": [{"code": "AsgInstanceLaunchFailures", "message": "no capacity"}]}
            ),
            ["node-group-unhealthy"],
            "AsgInstanceLaunchFailures: no capacity",
        ),
    ],
    ids=["well", "missing", "degraded", "small", "type", "unhealthy"],
)
def test_the_node_group(stub: Stub, answer: Any, codes: list[str], said: str) -> None:
    found = list(GroupTakesTheNodes(group_of(stub, answer), 2, 8, "p4d.24xlarge").find())
    assert [each.code for each in found] == codes
    assert said in "".join(each.message for each in found)


def test_what_the_stacks_output_tells_of_the_largest_size_is_not_told_twice(stub: Stub) -> None:
    assert list(GroupTakesTheNodes(group_of(stub, described()), 9, 4, "p4d.24xlarge").find()) == []


@pytest.mark.parametrize(
    ("kind", "market"),
    [("ON_DEMAND", "on-demand"), ("SPOT", "spot"), ("CAPACITY_BLOCK", "capacity-block")],
)
def test_the_market_and_the_nodes_that_are_there_decide_over_quotas(
    stub: Stub, kind: str, market: str
) -> None:
    group = group_of(
        stub, described(capacityType=kind, resources={"autoScalingGroups": [{"name": "asg-1"}]})
    )
    answer = {
        "AutoScalingGroups": [
            {
                "AutoScalingGroupName": "asg-1",
                "MinSize": 0,
                "MaxSize": 4,
                "DesiredCapacity": 1,
                "DefaultCooldown": 1,
                "AvailabilityZones": ["us-west-2b"],
                "HealthCheckType": "EC2",
                "CreatedTime": 0,
                "Instances": [
                    {
                        "InstanceId": "i-1",
                        "AvailabilityZone": "us-west-2b",
                        "LifecycleState": "InService",
                        "HealthStatus": "Healthy",
                        "ProtectedFromScaleIn": False,
                    }
                ],
            }
        ]
    }
    asked = ("describe_auto_scaling_groups", answer, {"AutoScalingGroupNames": ["asg-1"]})
    group._autoscaling = AutoScaling(stub("autoscaling", asked))
    assert (group.market, group.instances) == (market, 1)


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ({"cluster": {"status": "ACTIVE", "version": "1.35"}}, []),
        ({"cluster": {"status": "UPDATING", "version": "1.35"}}, []),
        ({"cluster": {"status": "CREATING", "version": "1.35"}}, ["cluster-not-active"]),
        ({"cluster": {"status": "ACTIVE", "version": "1.36"}}, ["cluster-other-version"]),
        (MISSING, ["cluster-missing"]),
    ],
)
def test_the_cluster(stub: Stub, answer: Any, codes: list[str]) -> None:
    client = stub("eks", ("describe_cluster", answer, {"name": "mask-rcnn"}))
    found = ClusterIsActive(Eks(client), "mask-rcnn", "1.35").find()
    assert [each.code for each in found] == codes


def test_add_ons_that_are_missing_or_unwell(stub: Stub) -> None:
    issues = [{"code": "InsufficientNumberOfReplicas", "message": "no node"}]
    calls = [
        ("describe_addon", {"addon": {"status": "ACTIVE"}}, _addon("vpc-cni")),
        ("describe_addon", MISSING, _addon("aws-efs-csi-driver")),
        (
            "describe_addon",
            {"addon": {"status": "DEGRADED", "health": {"issues": issues}}},
            _addon("coredns"),
        ),
    ]
    names = ("vpc-cni", "aws-efs-csi-driver", "coredns")
    missing, unwell = AddonsAreThere(Eks(stub("eks", *calls)), "mask-rcnn", names).find()
    assert (missing.code, missing.path) == ("addon-missing", "aws-efs-csi-driver")
    assert (unwell.code, unwell.severity) == ("addon-unwell", "warning")
    assert unwell.message == "add-on coredns of cluster mask-rcnn is DEGRADED: no node"


def _addon(name: str) -> dict[str, str]:
    return {"clusterName": "mask-rcnn", "addonName": name}


class Offers:
    """EC2, which has the type in some zones."""

    def __init__(self, *zones: str) -> None:
        self._zones = set(zones)

    def zones_offering(self, _: str) -> set[str]:
        return self._zones


def test_a_type_that_is_not_in_the_groups_zones_never_comes() -> None:
    def found(*zones: str) -> list[str]:
        check = TypeIsInTheZones(Offers(*zones), "p4d.24xlarge", ("us-west-2b",))  # type: ignore[arg-type]
        return [each.message for each in check.find()]

    assert found("us-west-2a", "us-west-2b") == []
    assert "it is in us-west-2a" in found("us-west-2a")[0]
    assert "it is in no zone of this region" in found()[0]
