"""Which checks a job for the EKS cluster gets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.eks import planning
from tests.training.preflight.stacks.conftest import ACCOUNT
from training.aws.clients import Clients
from training.aws.sts import Identity
from training.preflight import job as of_job
from training.preflight.check import Check
from training.preflight.job import registry
from training.preflight.job.data import DataIsOnS3
from training.preflight.job.ec2.account import AccountIsTheClusters
from training.preflight.job.ec2.quota import VcpuQuotaSuffices
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.eks import registry as of_kubernetes
from training.preflight.job.eks.namespace import ClaimsAreBound, NamespaceQuotaSuffices
from training.preflight.job.eks.nodes import GroupTakesTheNodes
from training.preflight.job.eks.operator import DevicePluginsRun
from training.preflight.job.group import InstancesReachEachOther
from training.preflight.job.image import ImageIsThere
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.whereabouts import Whereabouts

SHARED: set[type[Check]] = {AccountIsTheClusters, VcpuQuotaSuffices, InstancesReachEachOther}
EVERY_JOB: set[type[Check]] = {
    *of_kubernetes.ALL,
    *SHARED,
    ImageIsThere,
    JobsReachEfs,
    SubnetsLeadToS3,
}
BY_SOURCE: dict[str, set[type[Check]]] = {
    "s3": {DataIsOnS3},
    "efs": set(),
    "fsx": {JobsReachLustre, LustreIsLinked},
}


@pytest.fixture
def place(clients: Clients) -> Whereabouts:
    identity = Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/me")
    return Whereabouts(identity, planning.REGION, clients)


def asking(place: Whereabouts, stacks: Any = None, **overrides: Any) -> list[Check]:
    plan = planning.plan(stacks=stacks, **overrides)
    return list(registry.checks(planning.make_job(**overrides), plan, place))


def only(checks: list[Check], kind: type[Any]) -> Any:
    [found] = [check for check in checks if isinstance(check, kind)]
    return found


@pytest.mark.parametrize("source", BY_SOURCE)
def test_each_data_source_has_its_checks(place: Whereabouts, source: str) -> None:
    found = {type(check) for check in asking(place, data_source=source)}
    assert found == EVERY_JOB | BY_SOURCE[source]


def test_what_is_judged_is_what_would_be_sent(place: Whereabouts) -> None:
    found = asking(place, data_source="fsx", instances__count=3)
    assert only(found, GroupTakesTheNodes).nodes == 3
    assert only(found, GroupTakesTheNodes).group.name == planning.KUBERNETES["GpuNodeGroup"]
    assert set(only(found, ClaimsAreBound).file_systems) == {"mask-rcnn-efs", "mask-rcnn-fsx"}
    quota = only(found, NamespaceQuotaSuffices)
    assert (quota.gpus, quota.pods) == (24, 4)
    assert set(only(found, DevicePluginsRun).plugins) == {
        "nvidia.com/gpu",
        "vpc.amazonaws.com/efa",
    }
    assert only(found, JobsReachEfs).jobs.subnet_ids == ("subnet-0123456789abcdef2",)
    without = asking(place, planning.outputs(Efa="false"))
    assert set(only(without, DevicePluginsRun).plugins) == {"nvidia.com/gpu"}


def test_the_image_that_copies_data_is_looked_for_too(place: Whereabouts) -> None:
    found = asking(
        place,
        planning.outputs(GpuInstanceType="p3.16xlarge"),
        algorithm="tensorpack",
        image=None,
        data_source="s3",
    )
    images = [each.algorithm for each in found if isinstance(each, ImageIsThere)]
    assert images == ["tensorpack", "horovod"]


def test_a_plan_goes_to_the_clusters_region_and_is_for_aws() -> None:
    plan = planning.plan()
    assert registry.region_of(plan) == "us-west-2"
    assert of_job.is_for_aws(plan)
