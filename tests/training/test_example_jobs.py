"""The example job specs of jobs/: each is what its comments say, and can be planned."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.training.platforms.ec2.planning import outputs as with_cluster
from tests.training.platforms.eks.planning import outputs as with_kubernetes
from tests.training.platforms.sagemaker.planning import launch, outputs
from tests.training.platforms.sagemaker.service_model import complaints
from training import platforms
from training.job import read_job
from training.platforms.api import Plan
from training.platforms.ec2.request import Ec2Request
from training.platforms.eks.request import EksRequest

JOBS = Path(__file__).resolve().parents[2] / "jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.yaml"))
ON_SAGEMAKER = [name for name in NAMES if name.startswith("sagemaker-")]
ON_EC2 = [name for name in NAMES if name.startswith("ec2-")]
ON_EKS = [name for name in NAMES if name.startswith("eks-")]


def planned(name: str) -> Plan:
    job = read_job(JOBS / f"{name}.yaml", {})
    stacks = outputs()
    if name in ON_EC2:
        workers = job.spec.instances.type
        stacks = with_cluster(WorkerInstanceType=workers, Spot=str(job.spec.spot.enabled).lower())
    if name in ON_EKS:
        stacks = with_kubernetes(
            GpuInstanceType=job.spec.instances.type, Spot=str(job.spec.spot.enabled).lower()
        )
    return platforms.load(job.spec.platform).plan(job, stacks, launch())


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_in_its_first_lines_what_it_is(name: str) -> None:
    assert (JOBS / f"{name}.yaml").read_text(encoding="utf-8").startswith("# ")
    plan = planned(name)
    prefix = name.partition("-")[0]
    assert plan.platform == (prefix if prefix in {"sagemaker", "ec2", "eks"} else "local")


@pytest.mark.parametrize("name", [name for name in ON_SAGEMAKER if name != "sagemaker-local"])
def test_an_example_is_a_request_that_sagemaker_takes(name: str) -> None:
    assert complaints(planned(name).request.to_json()) == []


@pytest.mark.parametrize(
    ("name", "algorithm", "source", "machines"),
    [
        ("sagemaker-tutorial", "tensorpack", "EFS", ("ml.p3.16xlarge", 4)),
        ("sagemaker-horovod-fsx", "horovod", "FSxLustre", ("ml.p4d.24xlarge", 4)),
        ("sagemaker-spot-s3", "horovod", "S3Prefix", ("ml.g5.48xlarge", 2)),
        ("sagemaker-aws-samples-fsx", "aws-samples", "FSxLustre", ("ml.p3dn.24xlarge", 4)),
        ("sagemaker-tf2-smddp", "tf2-smddp", "FSxLustre", ("ml.p3dn.24xlarge", 2)),
        ("sagemaker-local", "horovod", "S3Prefix", ("local", 2)),
    ],
)
def test_an_example_runs_where_its_comments_say(
    name: str, algorithm: str, source: str, machines: tuple[str, int]
) -> None:
    plan = planned(name)
    body = plan.request.to_json()
    ((kind, fields),) = body["InputDataConfig"][0]["DataSource"].items()
    assert plan.algorithm == algorithm
    assert fields["S3DataType" if kind == "S3DataSource" else "FileSystemType"] == source
    config = body["ResourceConfig"]
    assert (config["InstanceType"], config["InstanceCount"]) == machines


def test_every_example_for_sagemaker_is_looked_at_above() -> None:
    assert len(ON_SAGEMAKER) == 6


@pytest.mark.parametrize(
    ("name", "algorithm", "path", "distribution", "machines"),
    [
        ("ec2-tutorial", "tensorpack", "/efs/", "mpi", "2 x p3.16xlarge"),
        ("ec2-horovod-fsx", "horovod", "/fsx/data/", "elastic", "4 x p4d.24xlarge"),
        ("ec2-spot-s3", "horovod", "/scratch/", "elastic", "2 x g5.48xlarge"),
    ],
)
def test_an_example_for_the_cluster_is_what_its_comments_say(
    name: str, algorithm: str, path: str, distribution: str, machines: str
) -> None:
    job, plan = read_job(JOBS / f"{name}.yaml", {}), planned(name)
    request = plan.request
    assert isinstance(request, Ec2Request)
    document = request.document
    assert (document["algorithm"], document["distribution"]) == (algorithm, distribution)
    assert document["data"]["path"].startswith(path)
    assert document["log"].startswith("/efs/")
    assert document["max_run_s"] <= 172_800
    assert dict(request.summary())["machines"].startswith(machines)
    # On the cluster that its comment deploys, nothing stands against it.
    found = platforms.load("ec2").check(job, plan, offline=True)
    assert [each.code for each in found if each.severity != "info"] == []


def test_every_example_for_the_cluster_is_looked_at_above() -> None:
    assert len(ON_EC2) == 3


@pytest.mark.parametrize(
    ("name", "chart", "data", "distribution", "machines"),
    [
        ("eks-tutorial", "maskrcnn", "/fsx/data/", "mpi", "2 x p3.16xlarge = 16 GPUs"),
        ("eks-horovod-fsx", "maskrcnn-horovod", "/fsx/data/", "elastic", "4 x p4d.24xlarge = 32"),
        ("eks-horovod-efs", "maskrcnn-horovod", "/efs/", "elastic", "1 x g5.48xlarge = 8"),
        ("eks-aws-samples-s3", "maskrcnn-optimized", "s3://", "mpi", "2 x p3dn.24xlarge = 16"),
    ],
)
def test_an_example_for_kubernetes_is_what_its_comments_say(
    name: str, chart: str, data: str, distribution: str, machines: str
) -> None:
    job, plan = read_job(JOBS / f"{name}.yaml", {}), planned(name)
    request = plan.request
    assert isinstance(request, EksRequest)
    assert (request.chart, request.distribution) == (chart, distribution)
    assert request.places.data.startswith(data)
    assert request.places.log.startswith("/efs/")
    assert request.values["job"]["max_run_s"] == 172_800
    assert dict(request.summary())["machines"].startswith(machines)
    # On the cluster that its comment deploys, nothing stands against it.
    found = platforms.load("eks").check(job, plan, offline=True)
    assert [each.code for each in found if each.severity != "info"] == []


def test_the_tutorial_s_job_for_kubernetes_has_the_variable_that_the_tutorial_set() -> None:
    request = planned("eks-tutorial").request
    assert isinstance(request, EksRequest)
    assert request.values["maskrcnn"]["tf_device_min_sys_mem_mb"] == 2560
    assert '"TF_DEVICE_MIN_SYS_MEMORY_IN_MB"\n                  value: "2560"' in request.manifest


def test_every_example_for_kubernetes_is_looked_at_above() -> None:
    assert len(ON_EKS) == 4


def test_each_platform_has_an_example_of_each_data_source() -> None:
    specs = [read_job(JOBS / f"{name}.yaml", {}).spec for name in NAMES]
    cloud = {(spec.platform, spec.data_source) for spec in specs if spec.platform != "local"}
    assert cloud == set(product(["sagemaker", "ec2", "eks"], ["s3", "efs", "fsx"]))


@pytest.mark.parametrize("name", [name for name in ON_SAGEMAKER if name != "sagemaker-tutorial"])
def test_an_example_on_paid_machines_has_a_limit_of_its_own(name: str) -> None:
    limit = read_job(JOBS / f"{name}.yaml", {}).spec.limits.max_run_s
    assert limit <= 172_800
    stopping = planned(name).request.to_json()["StoppingCondition"]
    assert stopping["MaxRuntimeInSeconds"] == limit


def test_the_tiny_example_ends_within_an_hour_wherever_it_runs() -> None:
    assert read_job(JOBS / "tiny.yaml", {}).spec.limits.max_run_s == 3600


def test_the_tutorials_job_is_that_of_the_defaults() -> None:
    """So that the comparison with the original's request holds for the example, too."""
    defaults = read_job(
        None, {"platform": "sagemaker", "algorithm": "tensorpack", "data_source": "efs"}
    )
    plan = platforms.load("sagemaker").plan(defaults, outputs(), launch())
    assert planned("sagemaker-tutorial").request == plan.request


def test_the_example_on_spot_keeps_its_checkpoints_on_s3() -> None:
    body = planned("sagemaker-spot-s3").request.to_json()
    assert body["EnableManagedSpotTraining"] is True
    assert body["StoppingCondition"] == {
        "MaxRuntimeInSeconds": 172_800,
        "MaxWaitTimeInSeconds": 604_800,
    }
    assert body["CheckpointConfig"]["S3Uri"].startswith("s3://bucket/")
    assert body["HyperParameters"]["checkpoint_period"] == "500"
