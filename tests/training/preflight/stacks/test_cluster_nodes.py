"""Types and quotas of the cluster's nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.aws.service_quotas import ServiceQuotas
from training.instances import INSTANCES
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.node_quotas import NodeQuotasSuffice
from training.preflight.stacks.node_types import NodeTypeIsOffered
from training.preflight.stacks.planned_zones import PlannedZones
from training.preflight.stacks.vcpu_quotas import (
    ACCELERATED,
    GRAPHICS,
    MEMORY,
    SPOT_P4,
    SPOT_P5,
    STANDARD,
    quota_of,
)

A_TO_F = PlannedZones(("us-east-1a", "us-east-1f"), 2)


def workers(
    name: str = "p4d.24xlarge", first: int = 0, most: int = 4, *, is_spot: bool = False
) -> PlannedNode:
    return PlannedNode("worker", name, first, most, is_spot=is_spot)


HEAD = PlannedNode("head", "m6i.xlarge", 1, 1)


def offered(aws: Clients, node: PlannedNode, zone: int = 1) -> NodeTypeIsOffered:
    return NodeTypeIsOffered(
        ec2=aws.ec2, region=REGION, node=node, planned=A_TO_F, zone=zone, where="cluster_zone"
    )


def test_a_type_that_the_zone_has_passes(aws: Clients) -> None:
    assert codes_of(offered(aws, HEAD)) == []
    assert codes_of(offered(aws, workers())) == []


@pytest.mark.parametrize(
    ("first", "code", "severity"),
    [
        (0, "cluster-worker-type-not-in-zone", "warning"),
        (1, "cluster-type-not-in-zone", "error"),
    ],
)
def test_a_type_elsewhere_is_an_error_where_one_is_started(
    aws: Clients, first: int, code: str, severity: str
) -> None:
    finding = only_finding_of(offered(aws, workers(first=first), zone=2), code)
    assert (finding.severity, finding.path) == (severity, "cluster_worker_instance_type")
    assert "is p4d.24xlarge, which EC2 does not have in us-east-1f" in finding.message
    assert "set cluster_zone to 1, choose another type" in finding.message


def test_a_type_that_the_region_lacks_is_told_so(aws: Clients) -> None:
    finding = only_finding_of(
        offered(aws, workers("p5e.48xlarge", first=1)), "cluster-type-not-in-zone"
    )
    assert "is p5e.48xlarge, which EC2 does not have in us-east-1. Choose" in finding.message


@pytest.mark.parametrize(
    ("name", "is_spot", "expected"),
    [
        ("m6i.xlarge", False, STANDARD),
        ("im4gn.large", False, STANDARD),
        ("t3.medium", False, STANDARD),
        ("g5.48xlarge", False, GRAPHICS),
        ("gr6.4xlarge", False, GRAPHICS),
        ("p3.16xlarge", False, ACCELERATED),
        ("p6-b200.48xlarge", False, ACCELERATED),
        ("p4de.24xlarge", True, SPOT_P4),
        ("p5en.48xlarge", True, SPOT_P5),
        ("p6-b200.48xlarge", True, None),
        ("hpc7a.96xlarge", False, None),
        ("trn1.32xlarge", False, None),
        ("inf2.xlarge", True, None),
        ("x2gd.large", False, MEMORY),
    ],
)
def test_each_type_counts_against_its_familys_quota(
    name: str, is_spot: bool, expected: Any
) -> None:
    assert quota_of(name, is_spot=is_spot) == expected


def test_every_gpu_type_counts_against_a_quota() -> None:
    found = {quota_of(each.name, is_spot=False) for each in INSTANCES}
    assert found == {ACCELERATED, GRAPHICS}


def running(name: str, group: str | None = None, lifecycle: str | None = None) -> dict[str, Any]:
    tags = [{"Key": "aws:autoscaling:groupName", "Value": group}] if group else []
    kind = {"InstanceLifecycle": lifecycle} if lifecycle else {}
    return {"InstanceType": name, "Tags": tags, **kind}


def quotas(stub: Stub, limits: dict[str, float], *instances: dict[str, Any]) -> dict[str, Any]:
    """Return the clients: limits by quota code, in the order in which they are asked."""
    types = {"m6i.xlarge": 4, "p4d.24xlarge": 96, "p5.48xlarge": 192}
    described = [
        {"InstanceType": name, "VCpuInfo": {"DefaultVCpus": count}} for name, count in types.items()
    ]
    client = stub("service-quotas")
    for code, value in limits.items():
        client = stub(
            "service-quotas",
            (
                "get_service_quota",
                {"Quota": {"Value": value}},
                {"ServiceCode": "ec2", "QuotaCode": code},
            ),
        )
    ec2 = FakeEc2(described, list(instances))
    return {"ec2": ec2, "service_quotas": ServiceQuotas(client), "region": REGION}


class FakeEc2(Ec2):
    """EC2 with given types and instances."""

    def __init__(self, types: list[dict[str, Any]], instances: list[dict[str, Any]]) -> None:
        super().__init__(None)
        self._types, self._instances = types, instances

    def vcpus(self, instance_types: Any) -> dict[str, int]:
        names = set(instance_types)
        return {
            each["InstanceType"]: each["VCpuInfo"]["DefaultVCpus"]
            for each in self._types
            if each["InstanceType"] in names
        }

    def running_instances(self) -> list[dict[str, Any]]:
        return self._instances


P, STANDARD_CODE = "L-417A185B", "L-1216C47A"


@pytest.mark.parametrize(
    ("limits", "first", "codes"),
    [
        ({STANDARD_CODE: 8, P: 384}, 0, []),
        ({STANDARD_CODE: 8, P: 383}, 0, ["cluster-quota-below-most-workers"]),
        ({STANDARD_CODE: 8, P: 0}, 0, ["cluster-quota-below-most-workers"]),
        ({STANDARD_CODE: 8, P: 95}, 1, ["cluster-quota-too-small"]),
        ({STANDARD_CODE: 3, P: 384}, 0, ["cluster-quota-too-small"]),
    ],
)
def test_head_and_most_workers_are_held_to_their_quotas(
    stub: Stub, limits: dict[str, float], first: int, codes: list[str]
) -> None:
    check = NodeQuotasSuffice(
        **quotas(stub, limits), nodes=(HEAD, workers(first=first)), own_groups=()
    )
    assert codes_of(check) == codes


def test_what_others_use_counts_and_the_clusters_own_does_not(stub: Stub) -> None:
    others = [
        running("p5.48xlarge"),
        running("p4d.24xlarge", "a-workers"),
        running("p4d.24xlarge", lifecycle="spot"),
        running("p5.48xlarge", lifecycle="capacity-block"),
        running("m6i.xlarge"),
    ]
    check = NodeQuotasSuffice(
        **quotas(stub, {STANDARD_CODE: 8, P: 250}, *others),
        nodes=(HEAD, workers(first=1, most=2)),
        own_groups=("a-head", "a-workers"),
    )
    finding = only_finding_of(check, "cluster-quota-in-use")
    assert finding.severity == "error"
    assert "Running On-Demand P instances: 250 vCPUs are allowed in us-east-1, others use 192" in (
        finding.message
    )
    assert "the deploy starts 96 more" in finding.message
    assert "--quota-code L-417A185B --desired-value 384 --region us-east-1" in finding.message


def test_head_and_workers_of_one_family_share_its_quota(stub: Stub) -> None:
    head = PlannedNode("head", "p5.48xlarge", 1, 1)
    check = NodeQuotasSuffice(
        **quotas(stub, {P: 400}), nodes=(head, workers("p5.48xlarge", most=2)), own_groups=()
    )
    finding = only_finding_of(check, "cluster-quota-below-most-workers")
    assert "the cluster takes 576 at most (1 of p5.48xlarge with 192 vCPUs each + 2 of" in (
        finding.message
    )
