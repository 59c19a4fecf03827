"""Jobs for the EC2 cluster."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.training.preflight.situations import breaking
from tests.training.preflight.situations.account import ACCOUNT, REGION
from tests.training.preflight.situations.breaking import nothing, stale
from tests.training.preflight.situations.situation import Situation, Sound, error, warning
from tests.training.preflight.situations.sound import WORKER, ZONES, Base, everything

_EC2 = ("--platform", "ec2", "--instance-count", "2", "--set", "image={images[horovod]}")
S3 = (*_EC2, "--data-source", "s3")
EFS = (*_EC2, "--data-source", "efs")
FSX = (*_EC2, "--data-source", "fsx")

WITHOUT_IMAGE = ("--platform", "ec2", "--instance-count", "2", "--data-source", "s3")

ON_DEMAND = "L-417A185B"
"""EC2's quota of running on-demand P instances, in vCPUs."""

RESERVATION = "cr-0123456789abcdef0"

_stale = partial(stale, stack="ClusterStack")


def _end_head(base: Base) -> None:
    """Let the head node have ended, and its group be at rest."""
    base.account.undo.callback(base.find_head)
    _resize(base, f"head-{base.mark}", DesiredCapacity=0)


def _resize(base: Base, group: str, **sizes: int) -> None:
    groups = base.boto("autoscaling")
    (there,) = groups.describe_auto_scaling_groups(AutoScalingGroupNames=[group])[
        "AutoScalingGroups"
    ]
    groups.update_auto_scaling_group(AutoScalingGroupName=group, **sizes)
    base.account.undo.callback(
        groups.update_auto_scaling_group,
        AutoScalingGroupName=group,
        **{name: there[name] for name in sizes},
    )


def _suspend(base: Base) -> None:
    groups, name = base.boto("autoscaling"), f"workers-{base.mark}"
    request: dict[str, Any] = {"AutoScalingGroupName": name, "ScalingProcesses": ["Launch"]}
    groups.suspend_processes(**request)
    base.account.undo.callback(groups.resume_processes, **request)


def _lose_agent(base: Base) -> None:
    base.account.says(
        "ssm",
        "DescribeInstanceInformation",
        lambda said: said["InstanceInformationList"][0].update(PingStatus="ConnectionLost"),
    )


def _reserve(base: Base, state: str | None, free: int = 0) -> None:
    """Let the workers come from a capacity reservation.

    Args:
        base: Where.
        state: Of the reservation; None: it is gone.
        free: How many instances it has left.
    """
    target = {"CapacityReservationTarget": {"CapacityReservationId": RESERVATION}}
    base.account.says(
        "ec2",
        "DescribeLaunchTemplateVersions",
        lambda said: said["LaunchTemplateVersions"][0]["LaunchTemplateData"].update(
            CapacityReservationSpecification=target
        ),
    )
    if state is None:
        base.account.refuses(
            "ec2", "DescribeCapacityReservations", "InvalidCapacityReservationId.NotFound"
        )
    else:
        found = {"State": state, "AvailableInstanceCount": free}
        base.account.answers_with(
            "ec2", "DescribeCapacityReservations", {"CapacityReservations": [found]}
        )


def _run_others(base: Base) -> None:
    """Let instances run that use most of the quota."""
    base.account.quota(ON_DEMAND, 2.5 * 96)
    running = {"Instances": [{"InstanceId": "i-1", "InstanceType": WORKER}]}
    base.account.answers_with("ec2", "DescribeInstances", {"Reservations": [running]})


def _leave_lines(base: Base) -> None:
    """Let a job of this name have run."""
    logs, group, stream = base.boto("logs"), f"/cluster-{base.mark}", "mine/run"
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    base.account.undo.callback(logs.delete_log_stream, logGroupName=group, logStreamName=stream)


SITUATIONS = (
    # The head node.
    Situation(
        "the cluster was destroyed",
        S3,
        partial(_stale, HeadGroupName="gone", WorkerGroupName="gone"),
        (error("head-missing", "gone"), error("worker-group-missing", "gone")),
    ),
    Situation(
        "the head node was ended",
        S3,
        _end_head,
        (error("head-missing", "head-{mark}"),),
    ),
    Situation(
        "the head node's agent is not online",
        S3,
        _lose_agent,
        (error("head-not-reached", "{head}"),),
    ),
    Situation(
        "the document that takes requests was deleted",
        S3,
        partial(_stale, DocumentName="gone"),
        (error("document-missing", "gone"),),
    ),
    Situation(
        "the caller may not send the document",
        S3,
        lambda base: base.account.deny("ssm:SendCommand"),
        (
            error(
                "job-not-permitted",
                f"arn:aws:ssm:{REGION}:{ACCOUNT}:document/request-{{mark}}",
            ),
        ),
    ),
    Situation(
        "the credentials are another account's",
        S3,
        partial(
            _stale,
            HeadRoleArn="arn:aws:iam::210987654321:role/head",
            KeySecretArn=f"arn:aws:secretsmanager:{REGION}:210987654321:secret:keys-abcdef",
        ),
        (error("account-not-the-clusters", "account"),),
    ),
    Situation(
        "a job of this name has run",
        (*S3, "--name", "mine"),
        _leave_lines,
        (warning("job-name-used", "name"),),
    ),
    # Workers.
    Situation(
        "the worker group was made smaller by hand",
        S3,
        lambda base: _resize(base, f"workers-{base.mark}", MaxSize=1),
        (error("worker-group-too-small", "instances.count"),),
    ),
    Situation(
        "the worker group starts nothing",
        S3,
        _suspend,
        (error("worker-group-suspended", "workers-{mark}"),),
    ),
    Situation(
        "the job takes more workers than the cluster has",
        (*S3, "--instance-count", "5"),
        nothing,
        (error("workers-over-most", "instances.count"),),
    ),
    Situation(
        "the job wants another type than the cluster's",
        (*S3, "--instance-type", "g5.48xlarge"),
        nothing,
        (error("instance-type-not-the-clusters", "instances.type"),),
    ),
    Situation(
        "the workers' zone does not have their type",
        S3,
        partial(breaking.offered_in, zones=(ZONES[0],)),
        (error("instance-type-not-in-zone", "instances.type"),),
    ),
    Situation(
        "the quota of vCPUs is too low",
        S3,
        lambda base: base.account.quota(ON_DEMAND, 96),
        (error("quota-too-small", "instances.count"),),
    ),
    Situation(
        "other instances use the quota of vCPUs up",
        S3,
        _run_others,
        (warning("quota-in-use", "instances.count"),),
    ),
    Situation(
        "the capacity reservation was cancelled",
        S3,
        partial(_reserve, state=None),
        (error("reservation-missing", RESERVATION),),
    ),
    Situation(
        "the capacity reservation has not begun",
        S3,
        partial(_reserve, state="scheduled"),
        (error("reservation-not-active", RESERVATION),),
    ),
    Situation(
        "the capacity reservation has no room",
        S3,
        partial(_reserve, state="active", free=1),
        (error("reservation-full", "instances.count"),),
    ),
    Situation(
        "nodes may not talk to each other",
        S3,
        lambda base: breaking.close(base, base.jobs, base.jobs),
        (error("job-group-closed", "{jobs}"),),
    ),
    Situation(
        "nothing of EFA gets out of nodes",
        S3,
        lambda base: breaking.close_out(base, base.jobs, everything(base.jobs)),
        (error("job-group-without-efa", "{jobs}"),),
    ),
    # What nodes read.
    Situation(
        "the nodes' image was deleted from ECR",
        S3,
        breaking.lose_image,
        (error("image-missing", "image"),),
    ),
    Situation(
        "the workers' zone has no mount target",
        EFS,
        partial(breaking.delete_mount_target, number=1),
        (error("efs-mount-target-missing", "data_source"),),
    ),
    Situation(
        "NFS's port is closed to nodes",
        EFS,
        breaking.close_nfs,
        (error("efs-port-closed", "data_source"),),
    ),
    Situation(
        "the subnet of nodes does not lead to S3",
        S3,
        lambda base: breaking.cut_off_from_s3(base, 1),
        (error("s3-route-missing", "{subnets[1]}"),),
    ),
    Situation(
        "the link of FSx to S3 was deleted for nodes",
        FSX,
        breaking.delete_link,
        (warning("fsx-link-missing", "data_source"),),
    ),
    Situation(
        "the batch is larger than the memory of the GPUs of nodes",
        (*S3, "--set", "hyperparameters.batch_size_per_gpu=400"),
        nothing,
        (error("batch-over-gpu-memory", "hyperparameters.batch_size_per_gpu"),),
    ),
    Situation(
        "one of Lustre's ports is closed to nodes",
        FSX,
        breaking.close_lustre,
        (error("fsx-ports-closed", "data_source"),),
    ),
    Situation(
        "the link of the nodes' FSx to S3 is misconfigured",
        FSX,
        partial(breaking.link_is, state="MISCONFIGURED"),
        (error("fsx-link-broken", "data_source"),),
    ),
    Situation(
        "the data that nodes copy has no annotations",
        S3,
        lambda base: breaking.lose(base, "annotations/instances_train2017.json"),
        (error("data-annotations-missing", "channels.train"),),
    ),
    # What the stack says.
    Situation(
        "the nodes' own environment uses no image",
        S3,
        partial(_stale, RunsIn="environment"),
        (warning("image-not-used", "image"),),
    ),
    Situation(
        "workers are spot instances, and the job is not tried again",
        (*S3, "--set", "ec2.distribution=mpi"),
        partial(_stale, Spot="true"),
        (warning("spot-without-retries", "retries"),),
    ),
    Situation(
        "the job wants spot capacity, and the workers are on demand",
        (*S3, "--set", "spot.enabled=true", "--set", "spot.max_wait_s=500000"),
        nothing,
        (
            warning("spot-without-spot-workers", "spot.enabled"),
            warning("spot-wait-not-used", "spot.max_wait_s"),
        ),
    ),
    Situation(
        "a secret is in the environment",
        (*S3, "--set", "environment.API_TOKEN=abc"),
        nothing,
        (warning("secret-in-environment", "environment.API_TOKEN"),),
    ),
)

SOUND = (
    Sound("nodes that copy from S3", S3),
    Sound("nodes with EFS", EFS),
    Sound("nodes with FSx", FSX),
    Sound(
        "nodes with capacity that is reserved",
        S3,
        partial(_reserve, state="active", free=2),
    ),
    Sound(
        "nodes in an environment of their own", WITHOUT_IMAGE, partial(_stale, RunsIn="environment")
    ),
    Sound("an image that is not in ECR", (*S3, "--set", "image=docker.io/somebody/image:1")),
)
