"""One job spec on all four platforms: what the training processes get is the same everywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.training.platforms.ec2.planning import CLUSTER
from tests.training.platforms.eks.planning import KUBERNETES, by_kind
from tests.training.platforms.sagemaker.planning import IMAGE, STACKS, launch
from training import algorithms, platforms
from training.hyperparameter_text import to_texts
from training.job import Job, read_job
from training.outputs import Outputs
from training.platforms.api import Launch, Plan

SPEC = {
    "name": "one-job",
    "algorithm": "horovod",
    "instances.count": 2,
    "image": IMAGE,
    "hyperparameters": {"batch_size_per_gpu": 2, "lr_epoch_schedule": [[2, 0.1], [3, None]]},
    "environment": {"NCCL_DEBUG": "INFO"},
    "tags": {"Team": "vision"},
    "limits.max_run_s": 7200,
    "retries": 2,
}
"""Says nothing of a platform."""

WAIT_S = 1800
"""The default of eks.workers_wait_s."""

RUN_NAME = "log-one-job"
TRAIN, LOG = "mask-rcnn/sagemaker/input/train", "mask-rcnn/sagemaker/output"


@dataclass(frozen=True)
class Sent:
    """What one platform would give the training processes."""

    hyperparameters: dict[str, str]
    environment: dict[str, str]
    distribution: str
    world_size: int
    data: str
    log: str
    max_run_s: int
    tags: dict[str, str]


def outputs(kind: str) -> Outputs:
    ec2, eks = {"WorkerInstanceType": kind}, {"GpuInstanceType": kind}
    stacks = {
        **STACKS,
        "ClusterStack": {**CLUSTER, **ec2},
        "KubernetesStack": {**KUBERNETES, **eks},
    }
    return Outputs(stacks, source="outputs.json")


def planned(
    platform: str, *, source: str, algorithm: str = "horovod", kind: str = "p4d.24xlarge"
) -> tuple[Job, Plan]:
    hyperparameters = SPEC["hyperparameters"] if algorithm == "horovod" else {}
    spec = {**SPEC, "platform": platform, "data_source": source, "algorithm": algorithm}
    job = read_job(None, {**spec, "hyperparameters": hyperparameters, "instances.type": kind})
    started: Launch = launch()
    return job, platforms.load(platform).plan(job, outputs(kind), started)


def on_sagemaker(body: dict[str, Any]) -> Sent:
    channels = {each["ChannelName"]: each["DataSource"] for each in body["InputDataConfig"]}
    paths = {
        name: source["FileSystemDataSource"]["DirectoryPath"] for name, source in channels.items()
    }
    variables = body["Environment"]
    processes = int(variables["MASK_RCNN_PROCESSES_PER_HOST"])
    return Sent(
        hyperparameters=body["HyperParameters"],
        environment={k: v for k, v in variables.items() if not k.startswith("MASK_RCNN_")},
        distribution=variables["MASK_RCNN_DISTRIBUTION"],
        world_size=processes * body["ResourceConfig"]["InstanceCount"],
        data=paths["train"],
        log=paths["log"],
        max_run_s=body["StoppingCondition"]["MaxRuntimeInSeconds"],
        tags={each["Key"]: each["Value"] for each in body["Tags"]},
    )


def on_ec2(request: dict[str, Any]) -> Sent:
    runs = request["runs"]
    document = runs["request"]
    return Sent(
        hyperparameters=document["hyperparameters"],
        environment=document["environment"],
        distribution=document["distribution"],
        world_size=runs["processes"],
        data=document["data"]["path"].removeprefix("/efs"),
        log=document["log"].removeprefix("/efs"),
        max_run_s=document["max_run_s"],
        tags=document["tags"],
    )


def on_eks(request: dict[str, Any]) -> Sent:
    documents = by_kind(request["manifest"])
    job = documents["MPIJob"]["spec"]
    worker = job["mpiReplicaSpecs"]["Worker"]
    (container,) = worker["template"]["spec"]["containers"]
    variables = {each["name"]: each.get("value", "") for each in container["env"]}
    annotations = documents["MPIJob"]["metadata"]["annotations"]
    return Sent(
        hyperparameters=json.loads(documents["ConfigMap"]["data"]["hyperparameters.json"]),
        environment={
            name: variables[name]
            for name in request["values"]["job"]["environment"]
            if not name.startswith("AWS_")
        },
        distribution=variables["MASK_RCNN_DISTRIBUTION"],
        world_size=job["slotsPerWorker"] * worker["replicas"],
        data=variables["MASK_RCNN_DATA"].removeprefix("/efs"),
        log=variables["MASK_RCNN_LOG"].removeprefix("/efs"),
        # The pods' deadline counts the wait for nodes, too.
        max_run_s=job["runPolicy"]["activeDeadlineSeconds"] - WAIT_S,
        tags=json.loads(annotations["mask-rcnn/tags"]),
    )


READERS = {"sagemaker": on_sagemaker, "ec2": on_ec2, "eks": on_eks}


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [("horovod", "p4d.24xlarge"), ("tensorpack", "p3.16xlarge"), ("aws-samples", "p3.16xlarge")],
)
def test_one_spec_gives_the_processes_the_same_on_every_cloud_platform(
    algorithm: str, kind: str
) -> None:
    sent: dict[str, Sent] = {}
    for platform, read in READERS.items():
        job, plan = planned(platform, source="efs", algorithm=algorithm, kind=kind)
        assert plan.algorithm == algorithm
        sent[platform] = read(plan.request.to_json())
        assert sent[platform].hyperparameters == to_texts(job.hyperparameters)
        assert sent[platform].data == f"/{TRAIN}"
        assert sent[platform].log == f"/{LOG}/{RUN_NAME}"
    first, *others = sent.values()
    for other in others:
        assert other.hyperparameters == first.hyperparameters
        assert other.world_size == first.world_size == 16
        assert other.max_run_s == first.max_run_s == 7200
        assert other.tags == {"Project": "mask-rcnn", "Job": "one-job", "Team": "vision"}
        assert other.environment == first.environment == {"NCCL_DEBUG": "INFO"}
    assert sent["ec2"].distribution == sent["eks"].distribution


def test_this_machine_gets_the_same_hyperparameters_and_starts_the_same_trainer() -> None:
    """Platform local starts the trainer itself, where the others start it in docker/horovod."""
    spec = {**SPEC, "platform": "local", "data_source": "efs", "instances.count": 1, "image": None}
    environ = {"SHAREDFS_fs_0123456789abcdef0": "/nowhere"}
    job = read_job(None, {key: value for key, value in spec.items() if value is not None})
    plan = platforms.load("local").plan(job, outputs("p4d.24xlarge"), launch(**environ))
    _, elsewhere = planned("eks", source="efs")
    here = plan.request.to_json()
    assert {k: str(v) for k, v in here["hyperparameters"].items()}.keys() == (
        on_eks(elsewhere.request.to_json()).hyperparameters.keys()
    )
    assert here["hyperparameters"]["batch_size_per_gpu"] == 2
    assert "training.maskrcnn.train" in here["argv"]


@pytest.mark.parametrize("source", ["s3", "fsx"])
def test_channels_lie_at_the_same_place_below_bucket_and_file_system(source: str) -> None:
    _, sagemaker = planned("sagemaker", source=source)
    train = sagemaker.request.to_json()["InputDataConfig"][0]["DataSource"]
    _, eks = planned("eks", source=source)
    data = dict(eks.request.to_json()["values"]["job"])
    if source == "s3":
        assert data["s3"]["source"] == train["S3DataSource"]["S3Uri"].rstrip("/")
        return
    path = train["FileSystemDataSource"]["DirectoryPath"]
    assert path.removeprefix("/abcdefgh") == data["data"].removeprefix("/fsx")


def test_metrics_are_the_algorithms_wherever_its_lines_are_read() -> None:
    """SageMaker reads them by regular expression; elsewhere the trainer's files have them."""
    _, plan = planned("sagemaker", source="efs")
    told = plan.request.to_json()["AlgorithmSpecification"]["MetricDefinitions"]
    assert told == [
        {"Name": each.name, "Regex": each.regex} for each in algorithms.load("horovod").METRICS
    ]
