"""Jobs for SageMaker."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

from tests.training.preflight.situations import breaking
from tests.training.preflight.situations.account import ACCOUNT, REGION
from tests.training.preflight.situations.breaking import nothing, stale
from tests.training.preflight.situations.situation import Situation, Sound, error, info, warning
from tests.training.preflight.situations.sound import FILES, ZONES, Base, everything, trust
from training.data.manifest import Entry, Manifest
from training.jobs.record import Record, Recorded
from training.layout import LOG_ROOT, TRAIN_PATH

_SAGEMAKER = ("--platform", "sagemaker", "--set", "image={images[horovod]}")
S3 = (*_SAGEMAKER, "--data-source", "s3")
EFS = (*_SAGEMAKER, "--data-source", "efs")
FSX = (*_SAGEMAKER, "--data-source", "fsx")
TENSORPACK = (
    *("--platform", "sagemaker", "--data-source", "s3", "--algorithm", "tensorpack"),
    *("--set", "image={images[tensorpack]}"),
)
TF2 = (
    *("--platform", "sagemaker", "--data-source", "s3", "--algorithm", "tf2-smddp"),
    *("--set", "image={images[tf2-smddp]}", "--set", "hyperparameters.total_steps=5625"),
    *("--set", "hyperparameters.learning_rate_steps=[3750,5000]"),
)
"""As jobs/sagemaker-tf2-smddp.yaml."""
PASSES = ("hyperparameters.images_per_epoch=120000",)
"""Twenty-four of them, at 500 pictures a second, take 5,760 s."""
NAMED = (*S3, "--name", "mine")
RESUMED = (*NAMED, "--resume")

LOG = f"{LOG_ROOT}/log-mine"
TYPE = "ml.p4d.24xlarge"

GONE_KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-1111-2222-3333-444444444444"


def _set(*assignments: str) -> tuple[str, ...]:
    return tuple(word for each in assignments for word in ("--set", each))


def _quota(name: str, value: float) -> Any:
    return lambda base: base.account.quota(name, value)


def _deny(*actions: str) -> Any:
    return lambda base: base.account.deny(*actions)


def _start_job(base: Base, name: str, count: int = 1) -> None:
    """Let a job run that somebody else has started; a name is taken for good."""
    sagemaker = base.boto("sagemaker")
    sagemaker.create_training_job(
        TrainingJobName=name,
        AlgorithmSpecification={"TrainingImage": "x", "TrainingInputMode": "File"},
        RoleArn=base.role,
        OutputDataConfig={"S3OutputPath": f"s3://{base.bucket}/elsewhere"},
        ResourceConfig={"InstanceType": TYPE, "InstanceCount": count, "VolumeSizeInGB": 10},
        StoppingCondition={"MaxRuntimeInSeconds": 60},
    )


def _fill_quota(base: Base) -> None:
    base.account.quota(f"{TYPE} for training job usage", 5)
    _start_job(base, f"other-{base.mark}", 2)


def _move_bucket(base: Base) -> None:
    name = f"far-{base.mark}"
    s3 = base.account.boto("s3", "eu-west-1")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    for each in FILES:
        body = Manifest.of([]).to_bytes() if each == "manifest.json" else b""
        s3.put_object(Bucket=name, Key=f"{TRAIN_PATH}/{each}", Body=body)
    stale(base, "StorageStack", BucketName=name)


def _keep_out_of_bucket(base: Base) -> None:
    base.account.refuses("s3", "HeadBucket", "403")
    base.account.refuses("s3", "ListObjectsV2", "AccessDenied")
    base.account.refuses("s3", "GetObject", "AccessDenied")


def _fill_manifest(base: Base) -> None:
    entry = Entry(path="train2017/1.jpg", size=9 * 10**12, sha256="0" * 64)
    breaking.put_manifest(base, Manifest.of([entry]).to_bytes())


def _leave_job_before(base: Base, **files: Any) -> None:
    breaking.put(base, f"{LOG}/checkpoints/1")
    for name, content in files.items():
        breaking.put(base, f"{LOG}/{name}.json", json.dumps(content).encode())


def _leave_earlier_job(base: Base) -> None:
    """Leave what `_leave_pace` does of a job that was launched from here, and its record."""
    _leave_pace(base, step=5000)
    breaking.put(base, f"{LOG}/hyperparameters.json", b"{}")
    record = Record.of(os.environ)
    base.account.undo.callback(record.file.unlink, missing_ok=True)
    log = f"s3://{base.bucket}/{LOG}"
    told = {"region": REGION, "account": ACCOUNT, "created": "2026-01-02T03:04:05+00:00"}
    record.add(Recorded(name="mine", platform="sagemaker", log=log, **told))


def _leave_pace(base: Base, step: int) -> None:
    """Leave a job that went through a pass in 914 steps of 128 pictures, 500 a second."""
    record = {"request": {"instance_type": TYPE, "hosts": list("abcd")}, "world_size": 32}
    _leave_job_before(base, job=record)
    lines = [
        {
            "kind": "train",
            "step": number,
            "epoch": number / 914,
            "time_s": 0.0,
            "values": {"images_per_second": 500.0},
        }
        for number in range(step - 200, step + 1, 20)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    breaking.put(base, f"{LOG}/metrics.jsonl", text.encode())


def _use_small_subnets(base: Base, *numbers: int) -> None:
    """Put some of the job's subnets where there are 11 addresses."""
    subnets = [
        base.small[number] if number in numbers else subnet
        for number, subnet in enumerate(base.subnets)
    ]
    stale(base, "NetworkStack", PrivateSubnetIds=",".join(subnets))


def _fill_from_the_root(base: Base) -> None:
    """As after `fsx_bucket_link=none`: nothing is linked, and data is below the root."""
    stale(base, "StorageStack", FsxDataPath="/")
    breaking.delete_link(base)


def _age_prices(base: Base) -> None:
    base.account.undo.callback(base.account.fetch_prices, days_ago=1)
    base.account.fetch_prices(days_ago=365)


def _trust(base: Base, service: str) -> None:
    """Let a service run as the jobs' role, and no other."""
    iam, name = base.boto("iam"), base.role.rpartition("/")[2]
    base.account.undo.callback(
        iam.update_assume_role_policy, RoleName=name, PolicyDocument=trust("sagemaker")
    )
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=trust(service))


SITUATIONS = (
    # The image.
    Situation(
        "the image was deleted from ECR",
        S3,
        breaking.lose_image,
        (error("image-missing", "image"),),
    ),
    Situation(
        "ECR has the image with another digest",
        (*S3, "--set", f"image={{repositories[horovod]}}@sha256:{'2' * 64}"),
        nothing,
        (error("image-missing", "image"),),
    ),
    Situation(
        "the image is in another region",
        (*S3, "--set", f"image={ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com/a/b:1"),
        nothing,
        (error("image-in-another-region", "image"),),
    ),
    Situation(
        "the image is in no ECR registry",
        (*S3, "--set", "image=docker.io/library/python:3.11"),
        nothing,
        (error("image-not-in-ecr", "image"),),
    ),
    Situation(
        "the image is of the year before last",
        S3,
        partial(breaking.image_is, days_old=500),
        (warning("image-old", "image"),),
    ),
    Situation(
        "the image is of last season",
        S3,
        partial(breaking.image_is, days_old=100),
        (info("image-details", "image"),),
    ),
    # Who.
    Situation(
        "the caller may not pass the role",
        S3,
        _deny("iam:PassRole"),
        (error("role-not-passable", "{role}"),),
    ),
    Situation(
        "the caller may not start training jobs",
        NAMED,
        _deny("sagemaker:CreateTrainingJob"),
        (error("job-not-permitted", f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/mine"),),
    ),
    Situation(
        "the role may not read the data",
        S3,
        _deny("s3:GetObject"),
        (error("role-cannot-read", "{role}"),),
    ),
    Situation(
        "the role may not write the results",
        S3,
        _deny("s3:PutObject"),
        (error("role-cannot-write", "{role}"),),
    ),
    Situation(
        "the role may not use the key",
        S3,
        _deny("kms:GenerateDataKey"),
        (error("role-cannot-use-key", "{role}"),),
    ),
    Situation(
        "SageMaker may not run as the role",
        S3,
        partial(_trust, service="ec2"),
        (error("role-not-assumable", "{role}"),),
    ),
    Situation(
        "the role was deleted",
        S3,
        partial(stale, stack="StorageStack", TrainingRoleArn=f"arn:aws:iam::{ACCOUNT}:role/gone"),
        (error("role-missing", f"arn:aws:iam::{ACCOUNT}:role/gone"),),
    ),
    # Quotas.
    Situation(
        "the quota of the type is too low",
        S3,
        _quota(f"{TYPE} for training job usage", 3),
        (error("quota-too-small", "instances.count"),),
    ),
    Situation(
        "the quota of all instances is too low",
        S3,
        _quota("Number of instances across all training jobs", 0),
        (error("quota-too-small", "instances.count"),),
    ),
    Situation(
        "the quota of spot instances is too low",
        (*S3, "--set", "spot.enabled=true"),
        _quota(f"{TYPE} for spot training job usage", 0),
        (error("quota-too-small", "instances.count"),),
    ),
    Situation(
        "other jobs use the quota up",
        S3,
        _fill_quota,
        (warning("quota-in-use", "instances.count"),),
    ),
    Situation(
        "no quota knows the type",
        (*S3, "--instance-type", "g5.12xlarge"),
        nothing,
        (warning("quota-unknown", "instances.type"),),
    ),
    Situation(
        "there is no quota of warm pools",
        (*S3, "--set", "sagemaker.keep_alive_s=600"),
        _quota(f"{TYPE} for training warm pool usage", 0),
        (warning("warm-pool-quota-too-small", "sagemaker.keep_alive_s"),),
    ),
    Situation(
        "jobs may run for a day alone",
        S3,
        _quota("Longest run time for a training job", 86_400),
        (error("run-time-over-quota", "limits.max_run_s"),),
    ),
    Situation(
        "the instance that makes the log folder has no quota",
        EFS,
        _quota("ml.m5.large for training job usage", 0),
        (error("quota-too-small", "sagemaker.preparation_instance_type"),),
    ),
    # Instances.
    Situation(
        "the region has no such type",
        TENSORPACK,
        nothing,
        (error("instance-type-not-in-region", "instances.type"),),
    ),
    Situation(
        "the type is in none of the job's zones",
        S3,
        partial(breaking.offered_in, zones=(f"{REGION}d",)),
        (error("instance-type-not-in-zones", "instances.type"),),
    ),
    Situation(
        "the type is not in the zone of FSx",
        FSX,
        partial(breaking.offered_in, zones=(ZONES[0], ZONES[2])),
        (error("instance-type-not-in-zones", "instances.type"),),
    ),
    Situation(
        "the type is in one of the job's zones alone",
        S3,
        partial(breaking.offered_in, zones=(ZONES[1],)),
        (info("instance-type-not-in-some-zones", "instances.type"),),
    ),
    # The network.
    Situation(
        "a subnet was deleted",
        S3,
        lambda base: stale(
            base, "NetworkStack", PrivateSubnetIds=",".join([*base.subnets[:2], "subnet-0123"])
        ),
        (error("subnet-missing", "subnet-0123"),),
    ),
    Situation(
        "no subnet has addresses for the job",
        S3,
        lambda base: _use_small_subnets(base, 0, 1, 2),
        (error("subnets-full", "instances.count"),),
    ),
    Situation(
        "one subnet has no addresses for the job",
        S3,
        lambda base: _use_small_subnets(base, 1),
        (warning("subnet-full", "instances.count"),),
    ),
    Situation(
        "the security group of jobs was deleted",
        S3,
        partial(stale, stack="NetworkStack", TrainingSecurityGroupId="sg-0123"),
        (error("job-group-missing", "sg-0123"),),
    ),
    Situation(
        "instances may not talk to each other",
        S3,
        lambda base: breaking.close(base, base.jobs, base.jobs),
        (error("job-group-closed", "{jobs}"),),
    ),
    Situation(
        "nothing of EFA gets out",
        S3,
        lambda base: breaking.close_out(base, base.jobs, everything(base.jobs)),
        (error("job-group-without-efa", "{jobs}"),),
    ),
    Situation(
        "no subnet leads to S3",
        S3,
        lambda base: breaking.cut_off_from_s3(base, 0, 1, 2),
        (error("s3-route-missing", "{subnets[0]}"),),
    ),
    Situation(
        "one subnet does not lead to S3",
        EFS,
        lambda base: breaking.cut_off_from_s3(base, 1),
        (warning("s3-route-missing-in-some", "{subnets[1]}"),),
    ),
    Situation(
        "the subnet of FSx does not lead to S3",
        FSX,
        lambda base: breaking.cut_off_from_s3(base, 1),
        (error("s3-route-missing", "{subnets[1]}"),),
    ),
    # S3 and keys.
    Situation(
        "the bucket was deleted",
        S3,
        partial(stale, stack="StorageStack", BucketName="gone-from-here"),
        (error("bucket-missing", "gone-from-here"),),
    ),
    Situation(
        "the bucket is in another region",
        S3,
        _move_bucket,
        (error("bucket-in-another-region", "far-{mark}"),),
    ),
    Situation(
        "the bucket does not let the caller in",
        S3,
        _keep_out_of_bucket,
        (
            warning("bucket-forbidden", "{bucket}"),
            warning("check-not-permitted", "CheckpointsAreOfThisJob"),
            warning("check-not-permitted", "DataFitsOnTheVolume"),
            warning("check-not-permitted", "DataIsOnS3"),
        ),
    ),
    Situation(
        "the key is disabled",
        S3,
        breaking.disable_key,
        (error("key-not-enabled", "{key}"),),
    ),
    Situation(
        "the key is to be deleted",
        S3,
        breaking.delete_key,
        (error("key-not-enabled", "{key}"),),
    ),
    Situation(
        "the key was deleted",
        S3,
        partial(
            stale,
            stack="StorageStack",
            EncryptionKeyArn=GONE_KEY,
        ),
        (error("key-missing", GONE_KEY),),
    ),
    # The data.
    Situation(
        "no data was staged",
        S3,
        lambda base: breaking.lose(base, *FILES),
        (error("data-missing", "channels.train"),),
    ),
    Situation(
        "a file of annotations is missing",
        S3,
        lambda base: breaking.lose(base, "annotations/instances_val2017.json"),
        (error("data-annotations-missing", "channels.train"),),
    ),
    Situation(
        "the pictures of a split are missing",
        S3,
        lambda base: breaking.lose(base, "train2017/1.jpg"),
        (error("data-pictures-missing", "channels.train"),),
    ),
    Situation(
        "the copy of the data was broken off",
        S3,
        lambda base: breaking.lose(base, "manifest.json"),
        (warning("data-manifest-missing", "channels.train"),),
    ),
    Situation(
        "the manifest is none",
        S3,
        lambda base: breaking.put_manifest(base, b"<html>"),
        (warning("data-manifest-unreadable", "channels.train"),),
    ),
    Situation(
        "the data is larger than the volume",
        S3,
        _fill_manifest,
        (error("data-larger-than-volume", "sagemaker.volume_gib"),),
    ),
    Situation(
        "the weights to begin with are missing",
        (*S3, *_set("hyperparameters.backbone_weights=other.pth")),
        nothing,
        (error("weights-missing", "hyperparameters.backbone_weights"),),
    ),
    Situation(
        "the weights are named as this machine has them",
        (*S3, *_set("hyperparameters.backbone_weights=/home/me/weights.pth")),
        nothing,
        (error("weights-outside-containers", "hyperparameters.backbone_weights"),),
    ),
    Situation(
        "the algorithm reads TFRecords, and there are pictures alone",
        TF2,
        lambda base: breaking.lose(base, "train2017-0.tfrecord"),
        (
            info("instance-type-not-in-some-zones", "instances.type"),
            error("data-records-missing", "channels.train"),
        ),
    ),
    # The name and the log folder.
    Situation(
        "another job had the name",
        (*S3, "--name", "taken-{mark}"),
        lambda base: _start_job(base, f"taken-{base.mark}"),
        (error("job-name-taken", "name"),),
    ),
    Situation(
        "another job of this name left its checkpoints",
        NAMED,
        _leave_job_before,
        (error("log-exists", "name"),),
    ),
    Situation(
        "there is no job to go on with",
        RESUMED,
        nothing,
        (error("resume-nothing", "name"),),
    ),
    Situation(
        "a job goes on with other hyperparameters",
        (*RESUMED, *_set("hyperparameters.seed=7")),
        partial(_leave_job_before, hyperparameters={"seed": "6"}),
        (error("resume-changes-hyperparameters", "hyperparameters"),),
    ),
    Situation(
        "a job that is done goes on",
        RESUMED,
        partial(_leave_job_before, outcome={"status": "completed"}),
        (warning("resume-completed", "name"),),
    ),
    Situation(
        "what a job left cannot be read",
        RESUMED,
        partial(_leave_job_before, hyperparameters=["seed"]),
        (error("log-unreadable", "name"),),
    ),
    Situation(
        "a job that goes on is too slow for its time limit",
        (*RESUMED, *_set("limits.max_run_s=3600")),
        partial(_leave_pace, step=5000),
        (
            info("schedule-estimate", "cost"),
            warning("schedule-over-time-limit", "limits.max_run_s"),
        ),
    ),
    Situation(
        "a new job is as slow as an earlier one, and has less time",
        (*S3, "--name", "next", *_set("limits.max_run_s=3600", *PASSES)),
        _leave_earlier_job,
        (
            info("schedule-estimate", "cost"),
            warning("schedule-over-time-limit", "limits.max_run_s"),
        ),
    ),
    # EFS.
    Situation(
        "EFS was deleted",
        EFS,
        partial(stale, stack="StorageStack", EfsId="fs-0123456789abcdef0"),
        (error("efs-missing", "data_source"),),
    ),
    Situation(
        "EFS is in error",
        EFS,
        partial(breaking.efs_is, state="error"),
        (error("efs-not-available", "data_source"),),
    ),
    Situation(
        "a mount target was deleted",
        EFS,
        partial(breaking.delete_mount_target, number=2),
        (error("efs-mount-target-missing", "data_source"),),
    ),
    Situation(
        "a mount target is still being made",
        EFS,
        partial(breaking.mount_target_is, number=0, state="creating"),
        (error("efs-mount-target-not-available", "data_source"),),
    ),
    Situation(
        "NFS's port is closed",
        EFS,
        breaking.close_nfs,
        (error("efs-port-closed", "data_source"),) * 3,
    ),
    Situation(
        "EFS demands TLS",
        EFS,
        breaking.demand_tls,
        (error("efs-policy-locks-out", "data_source"),),
    ),
    Situation(
        "EFS lets nobody be root",
        EFS,
        breaking.squash_root,
        (warning("efs-policy-squashes-root", "data_source"),),
    ),
    # FSx.
    Situation(
        "FSx was deleted",
        FSX,
        partial(stale, stack="StorageStack", FsxId="fs-0123456789abcdef0"),
        (error("fsx-missing", "data_source"),),
    ),
    Situation(
        "FSx has failed",
        FSX,
        partial(breaking.fsx_is, state="FAILED"),
        (error("fsx-not-available", "data_source"),),
    ),
    Situation(
        "FSx was made again, and has another mount name",
        FSX,
        partial(stale, stack="StorageStack", FsxMountName="zyxwvuts"),
        (error("fsx-mount-name-differs", "data_source"),),
    ),
    Situation(
        "the job would run in another zone than FSx",
        FSX,
        lambda base: stale(base, "StorageStack", FsxSubnetId=base.subnets[0]),
        (warning("fsx-in-another-zone", "data_source"),),
    ),
    Situation(
        "one of Lustre's ports is closed",
        FSX,
        breaking.close_lustre,
        (error("fsx-ports-closed", "data_source"),),
    ),
    Situation(
        "the link of FSx to S3 is still being made",
        FSX,
        partial(breaking.link_is, state="CREATING"),
        (error("fsx-link-not-made", "data_source"),),
    ),
    Situation(
        "the link of FSx to S3 has failed",
        FSX,
        partial(breaking.link_is, state="FAILED", FailureDetails={"Message": "no access"}),
        (error("fsx-link-broken", "data_source"),),
    ),
    Situation(
        "the link of FSx to S3 was deleted",
        FSX,
        breaking.delete_link,
        (warning("fsx-link-missing", "data_source"),),
    ),
    # The job itself, and its price.
    Situation(
        "the job can cost more than it may",
        (*S3, *_set("limits.max_usd=10")),
        nothing,
        (error("cost-over-limit", "limits.max_usd"),),
    ),
    Situation(
        "the price is unknown, and the job has a limit",
        (*S3, "--instance-type", "p5.48xlarge", *_set("limits.max_usd=10")),
        nothing,
        (
            error("cost-unknown", "limits.max_usd"),
            warning("quota-unknown", "instances.type"),
        ),
    ),
    Situation(
        "the price is of last year",
        S3,
        _age_prices,
        (warning("price-old", "cost"),),
    ),
    Situation(
        "each instance gets a part of the data",
        (*S3, *_set("sagemaker.s3_distribution=ShardedByS3Key")),
        nothing,
        (warning("s3-data-sharded", "sagemaker.s3_distribution"),),
    ),
    Situation(
        "GPUs would do nothing",
        (*S3, *_set("instances.processes_per_instance=4")),
        nothing,
        (warning("gpus-idle", "instances.processes_per_instance"),),
    ),
    Situation(
        "traffic is to be encrypted that EFA carries",
        (*S3, *_set("sagemaker.encrypt_traffic=true")),
        nothing,
        (warning("traffic-encryption-with-efa", "sagemaker.encrypt_traffic"),),
    ),
    Situation(
        "the batch is larger than the GPU's memory",
        (*S3, *_set("hyperparameters.batch_size_per_gpu=400")),
        nothing,
        (error("batch-over-gpu-memory", "hyperparameters.batch_size_per_gpu"),),
    ),
    Situation(
        "the batch may be larger than the GPU's memory",
        (*S3, *_set("hyperparameters.batch_size_per_gpu=150")),
        nothing,
        (warning("batch-near-gpu-memory", "hyperparameters.batch_size_per_gpu"),),
    ),
    Situation(
        "an epoch is shorter than a step",
        (*S3, *_set("hyperparameters.images_per_epoch=8")),
        nothing,
        (
            warning("epoch-shorter-than-step", "hyperparameters.images_per_epoch"),
            warning("training-ends-in-warmup", "hyperparameters"),
        ),
    ),
)


ESTIMATE = ("schedule-estimate", "what an earlier job measured tells the price of this one")

SOUND = (
    Sound("horovod on S3", S3),
    Sound("horovod on EFS", EFS),
    Sound("horovod on FSx", FSX),
    Sound(
        "horovod in a VPC that reaches S3 over NAT alone",
        S3,
        lambda base: breaking.lose_endpoint_of_s3(base, 0, 1, 2),
    ),
    Sound(
        "horovod on FSx that was filled from the root on",
        FSX,
        _fill_from_the_root,
    ),
    Sound("horovod from an image of last week", S3, partial(breaking.image_is, days_old=7)),
    Sound("horovod with torchrun", (*S3, *_set("sagemaker.distribution=torchrun"))),
    Sound("horovod on spot capacity", (*S3, *_set("spot.enabled=true"))),
    Sound("horovod with a warm pool", (*S3, *_set("sagemaker.keep_alive_s=600"))),
    Sound("horovod on G5", (*S3, "--instance-type", "g5.48xlarge", "--instance-count", "1")),
    Sound("horovod with large batches", (*S3, *_set("hyperparameters.batch_size_per_gpu=32"))),
    Sound("horovod with data that is streamed", (*S3, *_set("sagemaker.input_mode=FastFile"))),
    Sound("a job with a name", NAMED),
    Sound("a job that goes on", RESUMED, _leave_job_before),
    Sound(
        "a new job as quick as an earlier one",
        (*S3, "--name", "next", *_set("limits.max_run_s=7200", *PASSES)),
        _leave_earlier_job,
        remarks=(ESTIMATE,),
    ),
    Sound(
        "a job that goes on, and ends in time",
        (*RESUMED, *_set("limits.max_run_s=3600")),
        partial(_leave_pace, step=21_000),
        remarks=(ESTIMATE,),
    ),
    Sound(
        "tf2-smddp",
        TF2,
        remarks=(
            ("instance-type-not-in-some-zones", "p3dn.24xlarge is in two of the three zones"),
        ),
    ),
)
