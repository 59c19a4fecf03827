"""The example job specs of jobs/: each is what its comments say, and can be planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.platforms.sagemaker.planning import launch, outputs
from tests.training.platforms.sagemaker.service_model import complaints
from training import platforms
from training.job import read_job
from training.platforms.api import Plan

JOBS = Path(__file__).resolve().parents[2] / "jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.yaml"))
ON_SAGEMAKER = [name for name in NAMES if name.startswith("sagemaker-")]


def planned(name: str) -> Plan:
    job = read_job(JOBS / f"{name}.yaml", {})
    return platforms.load(job.spec.platform).plan(job, outputs(), launch())


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_in_its_first_lines_what_it_is(name: str) -> None:
    assert (JOBS / f"{name}.yaml").read_text(encoding="utf-8").startswith("# ")
    plan = planned(name)
    assert plan.platform == ("sagemaker" if name in ON_SAGEMAKER else "local")


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
