"""Which checks a planned job gets, and what is asked of AWS for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.jobs.test_record import job as recorded
from tests.training.platforms.ec2 import planning as on_ec2
from tests.training.platforms.eks import planning as on_eks
from tests.training.platforms.sagemaker import planning
from tests.training.preflight.job import test_earlier
from tests.training.preflight.stacks.conftest import ACCOUNT, REGION
from training.aws.clients import Clients
from training.aws.sts import Identity
from training.data.mounts import MOUNTS_VARIABLE
from training.hyperparameter_text import to_texts
from training.jobs.record import Record
from training.platforms.api import Plan
from training.preflight import job as of_job
from training.preflight.check import Check
from training.preflight.efs_policy import EfsPolicyAdmitsJobs
from training.preflight.finding import Finding
from training.preflight.job import offline, registry
from training.preflight.job.asked import Asked, S3Place
from training.preflight.job.batch import BatchFitsOnTheGpu
from training.preflight.job.caller import CallerMayLaunch
from training.preflight.job.data import DataIsMounted, DataIsOnS3, WeightsAreInTheChannel
from training.preflight.job.earlier_pace import EarlierPaceHereSuffices, EarlierPaceSuffices
from training.preflight.job.ec2 import registry as of_cluster
from training.preflight.job.ec2.workers import TypeIsInTheZone
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.eks import registry as of_kubernetes
from training.preflight.job.eks.nodes import TypeIsInTheZones
from training.preflight.job.group import InstancesReachEachOther
from training.preflight.job.here import ImageIsHere
from training.preflight.job.image import ImageIsThere
from training.preflight.job.instance_type import TypeIsOffered
from training.preflight.job.kept import JobInFolderIsTheSame, JobOnS3IsTheSame
from training.preflight.job.keys import KeyIsEnabled
from training.preflight.job.log import CheckpointsAreOfThisJob, LogFolderIsOfThisJob
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.job.name import NameIsFree
from training.preflight.job.output import OutputBucketIsThere
from training.preflight.job.pace import PaceInFolderSuffices, PaceOnS3Suffices
from training.preflight.job.quotas import QuotasSuffice
from training.preflight.job.role import RoleReachesItsPlaces
from training.preflight.job.role_trust import SageMakerMayBeTheRole
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.schedule import ScheduleMakesSense
from training.preflight.job.subnets import SubnetsHaveAddresses
from training.preflight.job.volume import DataFitsOnTheVolume
from training.preflight.job.whereabouts import Whereabouts

EVERY_JOB: set[type[Check]] = {
    *(NameIsFree, CallerMayLaunch, RoleReachesItsPlaces, ImageIsThere, TypeIsOffered),
    SageMakerMayBeTheRole,
    *(QuotasSuffice, SubnetsHaveAddresses, InstancesReachEachOther, OutputBucketIsThere),
    *(KeyIsEnabled, SubnetsLeadToS3),
}
BY_SOURCE: dict[str, set[type[Check]]] = {
    "s3": {DataIsOnS3, DataFitsOnTheVolume, CheckpointsAreOfThisJob},
    "efs": {JobsReachEfs, EfsPolicyAdmitsJobs},
    "fsx": {JobsReachLustre, LustreIsLinked},
}


@pytest.fixture
def place(clients: Clients) -> Whereabouts:
    return Whereabouts(Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/me"), REGION, clients)


def asking(place: Whereabouts, **overrides: Any) -> list[Check]:
    return list(registry.checks(planning.make_job(**overrides), planning.plan(**overrides), place))


def only(checks: list[Check], kind: type[Any]) -> Any:
    [found] = [check for check in checks if isinstance(check, kind)]
    return found


@pytest.mark.parametrize("source", BY_SOURCE)
def test_each_data_source_has_its_checks(place: Whereabouts, source: str) -> None:
    found = {type(check) for check in asking(place, data_source=source)}
    assert found == EVERY_JOB | BY_SOURCE[source]


def test_every_check_is_made_for_some_job() -> None:
    of_sources = set().union(*BY_SOURCE.values())
    offline = {ScheduleMakesSense, WeightsAreInTheChannel, DataIsMounted, LogFolderIsOfThisJob}
    offline |= {BatchFitsOnTheGpu}
    going_on = {JobInFolderIsTheSame, JobOnS3IsTheSame, PaceInFolderSuffices, PaceOnS3Suffices}
    going_on |= {EarlierPaceSuffices, EarlierPaceHereSuffices}
    of_sagemaker = EVERY_JOB | of_sources | offline | going_on | {ImageIsHere}
    assert set(registry.ALL) == of_sagemaker | set(of_cluster.ALL) | set(of_kubernetes.ALL)


def test_codes_say_what_they_are_of_and_have_one_severity() -> None:
    severities: dict[str, set[str]] = {}
    for check in registry.ALL:
        for code, severity in check.codes.items():
            severities.setdefault(code, set()).add(severity)
    assert {code: found for code, found in severities.items() if len(found) > 1} == {}


def test_what_is_judged_is_what_would_be_sent(place: Whereabouts) -> None:
    found = asking(
        place,
        data_source="s3",
        instances__type="p4d.24xlarge",
        instances__count=3,
        spot__enabled=True,
    )
    quotas = only(found, QuotasSuffice)
    assert (quotas.instance_type, quotas.instances, quotas.is_spot) == ("ml.p4d.24xlarge", 3, True)
    assert quotas.preparation_type is None
    addresses = only(found, SubnetsHaveAddresses)
    # An instance with EFA takes five.
    assert (addresses.instances, addresses.addresses_each) == (3, 5)
    assert addresses.subnet_ids == tuple(planning.SUBNETS)
    assert only(found, InstancesReachEachOther).has_efa
    assert only(found, DataIsOnS3).train == S3Place("bucket", "mask-rcnn/sagemaker/input/train")
    assert only(found, ImageIsThere).image == planning.IMAGE
    assert only(found, ImageIsThere).algorithm == "horovod"
    assert only(found, ImageIsThere).variant == "gpu"
    assert only(found, CallerMayLaunch).project == "mask-rcnn"


@pytest.mark.parametrize("image", [None, planning.IMAGE])
def test_a_job_with_smddp_is_advised_the_image_that_has_it(
    place: Whereabouts, image: str | None
) -> None:
    found = asking(place, sagemaker__distribution="smddp", image=image)
    assert only(found, ImageIsThere).variant == "smddp"


@pytest.mark.parametrize(
    ("options", "volume_bytes", "is_ebs"),
    [
        ({"algorithm": "tensorpack", "instances__type": "p3.16xlarge"}, 100 * 2**30, True),
        ({"instances__type": "g5.xlarge"}, 250 * 10**9, False),
    ],
)
def test_data_is_copied_to_ebs_or_to_nvme(
    place: Whereabouts, options: dict[str, Any], volume_bytes: int, *, is_ebs: bool
) -> None:
    fits = only(asking(place, data_source="s3", **options), DataFitsOnTheVolume)
    assert (fits.volume_bytes, fits.is_ebs) == (volume_bytes, is_ebs)


@pytest.mark.parametrize(
    ("planned", "kind"),
    [(planning, TypeIsOffered), (on_ec2, TypeIsInTheZone), (on_eks, TypeIsInTheZones)],
)
def test_other_types_are_ranked_by_what_earlier_jobs_have_left_in_the_bucket(
    aws: Clients,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planned: Any,
    kind: type[TypeIsOffered],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    job = planned.make_job(data_source="s3")
    before = S3Place(str(planning.STACKS["StorageStack"]["BucketName"]), "output/log-before")
    test_earlier.left(aws, before, hyperparameters=to_texts(job.hyperparameters))
    Record.of({"XDG_STATE_HOME": str(tmp_path)}).add(recorded(log=str(before)))
    place = Whereabouts(Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/me"), REGION, aws)
    found = only(list(registry.checks(job, planned.plan(data_source="s3"), place)), kind)
    assert [each.place for each in found.alternatives.paces()] == [str(before)]


def test_what_is_streamed_needs_no_room(place: Whereabouts) -> None:
    found = asking(place, data_source="s3", sagemaker__input_mode="FastFile")
    assert not [check for check in found if isinstance(check, DataFitsOnTheVolume)]


def test_the_job_that_makes_the_log_folder_is_judged_too(place: Whereabouts) -> None:
    quotas = only(asking(place, data_source="efs"), QuotasSuffice)
    assert quotas.preparation_type == "ml.m5.large"


def test_a_job_that_goes_on_needs_its_checkpoints(place: Whereabouts) -> None:
    job = planning.make_job(name="mine")
    for resume in (False, True):
        plan = planning.plan(name="mine", launched=planning.launch(resume=resume))
        check = only(list(registry.checks(job, plan, place)), CheckpointsAreOfThisJob)
        assert check.resume is resume
        assert check.checkpoints == S3Place("bucket", "mask-rcnn/sagemaker/output/log-mine")


def test_capacity_of_a_training_plan_has_no_quota_to_do_with(place: Whereabouts) -> None:
    arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/mine-0123456789abcdef"
    found = asking(place, sagemaker__training_plan_arn=arn)
    assert not [check for check in found if isinstance(check, QuotasSuffice)]


def mounted(tmp_path: Path) -> Plan:
    efs = tmp_path / str(planning.STACKS["StorageStack"]["EfsId"])
    efs.mkdir()
    environ: dict[str, Any] = {MOUNTS_VARIABLE: str(tmp_path)}
    launched = planning.launch(**environ)
    return planning.plan(data_source="efs", launched=launched)


def test_where_the_file_system_is_mounted_its_folders_are_looked_at_offline(
    tmp_path: Path,
) -> None:
    plan = mounted(tmp_path)
    found = list(of_job.find(planning.make_job(data_source="efs"), plan, offline=True))
    assert [each.code for each in found if each.severity == "error"] == ["data-missing"]


def test_offline_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.aws.client.new_session", lambda: pytest.fail("AWS is asked"))
    assert list(of_job.find(planning.make_job(), planning.plan(), offline=True)) == []


def test_containers_on_this_machine_need_nothing_of_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.aws.client.new_session", lambda: pytest.fail("AWS is asked"))
    options: dict[str, Any] = {"instances__type": "local", "data_source": "s3"}
    job, plan = planning.make_job(**options), planning.plan(**options)
    found = of_job.find(job, plan, offline=False)
    assert {each.path for each in found} <= {"image", "instances.type"}


def test_containers_look_for_their_image_here() -> None:
    options: dict[str, Any] = {"instances__type": "local", "data_source": "s3"}
    job, plan = planning.make_job(**options), planning.plan(**options)
    image = only(list(offline.checks_here(job, plan)), ImageIsHere)
    assert (image.image, image.algorithm) == (planning.IMAGE, "horovod")


@pytest.mark.parametrize("source", ["efs", "fsx"])
def test_a_job_that_goes_on_here_is_compared_where_its_log_folder_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    storage = planning.STACKS["StorageStack"]
    root = tmp_path / storage["EfsId" if source == "efs" else "FsxId"]
    root.mkdir()
    monkeypatch.setenv(MOUNTS_VARIABLE, str(tmp_path))
    options: dict[str, Any] = {"instances__type": "local", "data_source": source, "name": "mine"}
    for resume in (False, True):
        plan = planning.plan(launched=planning.launch(resume=resume), **options)
        found = list(offline.checks_here(planning.make_job(**options), plan))
        kept = [each.log for each in found if isinstance(each, JobInFolderIsTheSame)]
        below = root if source == "efs" else root / "data"
        assert kept == ([below / "mask-rcnn/sagemaker/output/log-mine"] if resume else [])


def test_a_job_on_instances_that_goes_on_is_compared_with_what_it_was(
    place: Whereabouts, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"name": "mine", "hyperparameters__seed": 7}
    resumed = planning.launch(resume=True)
    job, plan = planning.make_job(**options), planning.plan(launched=resumed, **options)
    on_s3 = only(list(registry.checks(job, plan, place)), JobOnS3IsTheSame)
    assert on_s3.log == S3Place("bucket", "mask-rcnn/sagemaker/output/log-mine")
    assert (on_s3.hyperparameters["seed"], on_s3.defaults["seed"]) == ("7", "0")
    course = only(list(registry.checks(job, plan, place)), PaceOnS3Suffices).course
    assert (course.instance_type, course.instances, course.world_size) == ("ml.p4d.24xlarge", 4, 32)
    assert (course.global_batch_size, course.total_steps, course.total_epochs) == (128, None, 24)
    (tmp_path / planning.STACKS["StorageStack"]["EfsId"]).mkdir()
    environ: dict[str, Any] = {MOUNTS_VARIABLE: str(tmp_path)}
    launched = planning.launch(resume=True, **environ)
    plan = planning.plan(launched=launched, data_source="efs", **options)
    in_folder = only(list(offline.offline_checks(job, plan)), JobInFolderIsTheSame)
    assert in_folder.log.name == "log-mine"
    assert in_folder.hyperparameters["seed"] == "7"
    pace = only(list(offline.offline_checks(job, plan)), PaceInFolderSuffices)
    assert (pace.log.files.log, pace.course) == (in_folder.log, course)


@pytest.mark.parametrize("planned", [planning, on_ec2, on_eks])
def test_the_batch_is_held_against_the_gpu_of_the_jobs_machines(planned: Any) -> None:
    options: dict[str, Any] = {"hyperparameters__batch_size_per_gpu": 9, "data_source": "s3"}
    checks = list(offline.offline_checks(planned.make_job(**options), planned.plan(**options)))
    check = only(checks, BatchFitsOnTheGpu)
    assert (check.batch, check.gpu.model) == (9, "A100")


def test_the_batch_of_another_trainer_is_not_judged() -> None:
    options: dict[str, Any] = {"algorithm": "tensorpack", "instances__type": "p3.16xlarge"}
    checks = offline.offline_checks(planning.make_job(**options), planning.plan(**options))
    assert not [check for check in checks if isinstance(check, BatchFitsOnTheGpu)]


def test_files_of_the_very_job_that_is_asked_for_are_no_error() -> None:
    log = Finding("log-exists", "error", "there are files", "name")
    other = Finding("image-missing", "error", "no image", "image")
    there = Finding("job-already-there", "info", "it is followed", "name")
    assert of_job.without_own_log([log, other]) == [log, other]
    assert of_job.without_own_log([log, other, there]) == [other, there]


def test_a_request_is_read_whole() -> None:
    asked = Asked.of(planning.body(data_source="fsx"))
    assert [(each.name, each.type, each.path) for each in asked.file_systems] == [
        ("train", "FSxLustre", "/abcdefgh/data/mask-rcnn/sagemaker/input/train"),
        (
            "log",
            "FSxLustre",
            "/abcdefgh/data/mask-rcnn/sagemaker/output/log-2026-01-02-03-04-05",
        ),
    ]
    assert asked.subnet_ids == (planning.SUBNETS[1],)
    assert asked.train_on_s3 is None
    assert asked.key_arns == (planning.KEY_ARN,)
    assert str(asked.output) == "s3://bucket/mask-rcnn/sagemaker/output"
