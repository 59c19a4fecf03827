"""Which checks apply to a request to SageMaker, and all that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from training.addresses import PER_INSTANCE, addresses_of_instance
from training.instances import known_instance
from training.platforms.common.image import image_variant
from training.platforms.sagemaker.fingerprint import fingerprint_of
from training.platforms.sagemaker.log_folder import FolderJob
from training.preflight.check import Check
from training.preflight.efs_policy import EfsPolicyAdmitsJobs
from training.preflight.job.alternatives import alternatives_of
from training.preflight.job.asked import Asked
from training.preflight.job.caller import CallerMayLaunch
from training.preflight.job.course import course_of
from training.preflight.job.data import DataIsOnS3
from training.preflight.job.earlier import EarlierJobs, earlier_logs
from training.preflight.job.earlier_pace import EarlierPaceSuffices
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.group import InstancesReachEachOther
from training.preflight.job.image import ImageIsThere
from training.preflight.job.instance_type import TypeIsOffered
from training.preflight.job.kept import JobOnS3IsTheSame, hyperparameter_texts
from training.preflight.job.keys import KeyIsEnabled
from training.preflight.job.log import CheckpointsAreOfThisJob
from training.preflight.job.log_files import LogOnS3
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.job.measured import JobLog
from training.preflight.job.name import NameIsFree
from training.preflight.job.offline import data_of, goes_on, jobs_before_on_s3
from training.preflight.job.output import OutputBucketIsThere
from training.preflight.job.pace import PaceOnS3Suffices
from training.preflight.job.quotas import QuotasSuffice
from training.preflight.job.role import RoleReachesItsPlaces
from training.preflight.job.role_trust import SageMakerMayBeTheRole
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.subnets import SubnetsHaveAddresses
from training.preflight.job.volume import DataFitsOnTheVolume
from training.preflight.job.whereabouts import Whereabouts
from training.preflight.peers import Members

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan

ALL: tuple[type[Check], ...] = (
    NameIsFree,
    CallerMayLaunch,
    SageMakerMayBeTheRole,
    RoleReachesItsPlaces,
    ImageIsThere,
    TypeIsOffered,
    QuotasSuffice,
    SubnetsHaveAddresses,
    SubnetsLeadToS3,
    InstancesReachEachOther,
    OutputBucketIsThere,
    KeyIsEnabled,
    CheckpointsAreOfThisJob,
    JobOnS3IsTheSame,
    PaceOnS3Suffices,
    EarlierPaceSuffices,
    DataIsOnS3,
    DataFitsOnTheVolume,
    JobsReachEfs,
    EfsPolicyAdmitsJobs,
    JobsReachLustre,
    LustreIsLinked,
)


def checks(job: Job, plan: Plan, place: Whereabouts) -> Iterator[Check]:
    """Yield the checks that ask AWS about a request to SageMaker."""
    body = plan.request.to_json()
    asked = Asked.of(body)
    yield from _of_who_and_what(job, plan, body, asked, place)
    yield from _of_machines(job, plan, asked, place)
    yield from _of_s3(job, plan, asked, place)
    yield from _of_file_systems(job, asked, place)


def _of_who_and_what(
    job: Job, plan: Plan, body: dict[str, Any], asked: Asked, place: Whereabouts
) -> Iterator[Check]:
    clients, identity = place.clients, place.identity
    yield NameIsFree(clients.sagemaker, plan.job_name, fingerprint_of(body))
    yield CallerMayLaunch(
        iam=clients.iam,
        identity=identity,
        role_arn=asked.role_arn,
        job_name=asked.job_name,
        region=place.region,
        project=asked.project,
    )
    yield SageMakerMayBeTheRole(clients.iam, asked.role_arn, identity.account)
    yield RoleReachesItsPlaces(
        clients.iam, asked.role_arn, asked.train_on_s3, asked.output, asked.key_arns
    )
    yield ImageIsThere(
        clients.ecr,
        asked.image,
        job.spec.algorithm,
        place.region,
        identity.account,
        image_variant(job.spec),
    )


def _of_machines(job: Job, plan: Plan, asked: Asked, place: Whereabouts) -> Iterator[Check]:
    ec2, region = place.clients.ec2, place.region
    instance = known_instance(asked.instance_type)
    others = alternatives_of(
        job,
        ec2,
        place.clients.s3,
        region=region,
        bucket=asked.output.bucket,
        subnet_ids=asked.subnet_ids,
    )
    yield TypeIsOffered(
        ec2,
        asked.instance_type,
        asked.subnet_ids,
        region,
        is_bound=any(each.type == "FSxLustre" for each in asked.file_systems),
        alternatives=others,
    )
    if not asked.has_training_plan:  # Its capacity has no quota to do with.
        yield QuotasSuffice(
            place.clients.service_quotas,
            place.clients.sagemaker,
            region,
            asked.instance_type,
            asked.instance_count,
            is_spot=asked.is_spot,
            keep_alive_s=asked.keep_alive_s,
            max_run_s=asked.max_run_s,
            preparation_type=_preparation_type(plan),
            alternatives=others,
        )
    yield SubnetsHaveAddresses(
        ec2,
        asked.subnet_ids,
        asked.instance_count,
        addresses_of_instance(instance) if instance else PER_INSTANCE,
    )
    yield SubnetsLeadToS3(ec2, asked.subnet_ids, region)
    for group_id in asked.group_ids:
        yield InstancesReachEachOther(
            ec2,
            group_id,
            asked.instance_count,
            has_efa=instance is not None and instance.efa_interfaces != 0,
        )


def _of_s3(job: Job, plan: Plan, asked: Asked, place: Whereabouts) -> Iterator[Check]:
    s3 = place.clients.s3
    yield OutputBucketIsThere(s3, asked.output.bucket, place.region)
    for arn in asked.key_arns:
        yield KeyIsEnabled(place.clients.kms, arn)
    if asked.train_on_s3:
        yield DataIsOnS3(*data_of(job), s3, asked.train_on_s3)
        volume = _volume_bytes(asked)
        if asked.input_mode == "File" and volume:
            yield DataFitsOnTheVolume(
                s3, asked.train_on_s3, volume, is_ebs=asked.volume_gib is not None
            )
        if asked.checkpoints:
            yield CheckpointsAreOfThisJob(goes_on(job, plan), s3, asked.checkpoints)
            yield from jobs_before_on_s3(job, plan, asked, s3)
            course = course_of(job, plan)
            if course and goes_on(job, plan):
                yield PaceOnS3Suffices(course, JobLog(LogOnS3(s3, asked.checkpoints)))
            elif course and (logs := earlier_logs(s3, asked.checkpoints.bucket, here=False)):
                earlier = EarlierJobs(logs, *hyperparameter_texts(job))
                yield EarlierPaceSuffices(course, earlier)


def _of_file_systems(job: Job, asked: Asked, place: Whereabouts) -> Iterator[Check]:
    clients = place.clients
    train = next((each for each in asked.file_systems if each.name == "train"), None)
    if train is None:
        return
    for group_id in asked.group_ids[:1]:
        jobs = Members(group_id, asked.subnet_ids)
        if train.type == "EFS":
            yield JobsReachEfs(clients.ec2, clients.efs, train.file_system_id, jobs)
            yield EfsPolicyAdmitsJobs(
                efs=clients.efs,
                file_system_id=train.file_system_id,
                key="data_source",
                alternative="take data_source s3",
            )
        else:
            yield JobsReachLustre(clients.ec2, clients.fsx, train.file_system_id, train.path, jobs)
            yield LustreIsLinked(
                clients.fsx, train.file_system_id, train.path, job.spec.channels.train
            )


def _preparation_type(plan: Plan) -> str | None:
    """Return the instance type of the training job that makes the log folder."""
    for step in plan.before:
        if isinstance(step, FolderJob) and step.request:
            return str(step.request["ResourceConfig"]["InstanceType"])
    return None


def _volume_bytes(asked: Asked) -> int | None:
    """Return the room for data on one instance; None where it is not known."""
    if asked.volume_gib is not None:
        return asked.volume_gib * 2**30
    instance = known_instance(asked.instance_type)
    return instance.nvme_gb * 10**9 if instance else None
