"""Which checks a job for the cluster gets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.ec2 import planning
from tests.training.preflight.stacks.conftest import ACCOUNT
from training.aws.clients import Clients
from training.aws.sts import Identity
from training.preflight import job as of_job
from training.preflight.check import Check
from training.preflight.finding import Finding
from training.preflight.job import registry
from training.preflight.job.asked import S3Place
from training.preflight.job.data import DataIsOnS3
from training.preflight.job.ec2 import registry as of_cluster
from training.preflight.job.ec2.head import DocumentIsThere, HeadIsThere
from training.preflight.job.ec2.name import NameIsNew
from training.preflight.job.ec2.quota import VcpuQuotaSuffices
from training.preflight.job.ec2.workers import GroupTakesTheWorkers, TypeIsInTheZone
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.image import ImageIsThere
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.job.report import select
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.whereabouts import Whereabouts

EVERY_JOB: set[type[Check]] = {*of_cluster.ALL, ImageIsThere, JobsReachEfs, SubnetsLeadToS3}
BY_SOURCE: dict[str, set[type[Check]]] = {
    "s3": {DataIsOnS3},
    "efs": set(),
    "fsx": {JobsReachLustre, LustreIsLinked},
}


@pytest.fixture
def place(clients: Clients) -> Whereabouts:
    identity = Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/me")
    return Whereabouts(identity, planning.REGION, clients)


def asking(place: Whereabouts, *, head_address: str | None = None, **overrides: Any) -> list[Check]:
    stacks = planning.outputs(HeadAddress=head_address)
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
    found = asking(place, data_source="s3", instances__count=3, name="mine")
    assert only(found, GroupTakesTheWorkers).workers == 3
    assert only(found, GroupTakesTheWorkers).group.name == planning.CLUSTER["WorkerGroupName"]
    quota = only(found, VcpuQuotaSuffices)
    assert (quota.instance_type, quota.workers, quota.region) == (
        "p4d.24xlarge",
        3,
        planning.REGION,
    )
    assert only(found, TypeIsInTheZone).zone == planning.CLUSTER["Zone"]
    assert only(found, HeadIsThere).group_name == planning.CLUSTER["HeadGroupName"]
    assert only(found, DocumentIsThere).name == planning.CLUSTER["DocumentName"]
    assert only(found, NameIsNew).name == "mine"
    assert only(found, DataIsOnS3).train == S3Place("bucket", "mask-rcnn/sagemaker/input/train")


def test_over_ssh_no_document_is_needed(place: Whereabouts) -> None:
    found = asking(place, head_address="203.0.113.9", ec2__access="ssh")
    assert not [each for each in found if isinstance(each, DocumentIsThere)]
    assert only(found, HeadIsThere).by_ssm is False


def test_a_job_that_goes_on_has_a_name_that_was_used(place: Whereabouts) -> None:
    job = planning.make_job(name="mine")
    plan = planning.plan(name="mine", launched=planning.launch(resume=True))
    found = registry.checks(job, plan, place)
    assert not [each for each in found if isinstance(each, NameIsNew)]


def test_an_image_elsewhere_is_for_the_nodes_to_fetch(place: Whereabouts) -> None:
    found = asking(place, image="docker.io/somebody/image:1")
    assert not [each for each in found if isinstance(each, ImageIsThere)]


def test_on_fsx_the_channel_is_looked_for_below_the_mount_name(place: Whereabouts) -> None:
    found = only(asking(place, data_source="fsx"), LustreIsLinked)
    assert found.directory_path == "/abcdefgh/data/mask-rcnn/sagemaker/input/train"


def test_the_clusters_region_is_asked() -> None:
    assert registry.region_of(planning.plan()) == planning.REGION
    assert of_job.is_for_aws(planning.plan())


def test_offline_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.aws.client.new_session", lambda **_: pytest.fail("AWS is asked"))
    assert list(of_job.find(planning.make_job(), planning.plan(), offline=True)) == []


def test_findings_of_the_cluster_can_be_left_out() -> None:
    kept = select([], ["quota-in-use", "reservation-full"])
    finding = Finding("reservation-full", "error", "full", "instances.count")
    assert kept.of_findings([finding]) == []
