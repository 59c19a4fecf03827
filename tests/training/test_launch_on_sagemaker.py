"""`python -m training.launch --platform sagemaker` as its users meet it, on local AWS."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import ROOT, LocalAws
from tests.training.job_place import REGION, JobPlace, make_job_place


@dataclass(frozen=True)
class Cloud:
    """What the stacks would have made, and a data set on S3."""

    aws: LocalAws
    place: JobPlace

    def launch(self, *arguments: str, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "training.launch", "--platform", "sagemaker"),
                *("--instance-type", "g5.xlarge", "--outputs-file", str(self.place.outputs_file)),
                *("--set", f"image={self.place.image}", "--set", "tags={localaws:seconds: '1'}"),
                *arguments,
            ],
            env=self.aws.process_env() | {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == exit_code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def jobs(self) -> list[str]:
        found = self.aws.client("sagemaker").list_training_jobs(MaxResults=100)
        return [each["TrainingJobName"] for each in found["TrainingJobSummaries"]]


@pytest.fixture(scope="module")
def cloud(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Cloud:
    return Cloud(local_aws, make_job_place(local_aws, tmp_path_factory.mktemp("launch")))


def new_name() -> str:
    return f"launch-{uuid4().hex[:8]}"


def test_a_job_is_launched_and_followed_to_its_end(cloud: Cloud) -> None:
    name = new_name()
    options = ("--name", name, "--set", "sagemaker.experiment=trials", "--format", "json")
    shown = json.loads(cloud.launch(*options, "--dry-run").stdout)
    assert name not in cloud.jobs()
    assert [step["request"]["ExperimentName"] for step in shown["before"]] == ["trials"]
    done = cloud.launch(*options, "--yes", "--wait")
    told = json.loads(done.stdout)
    assert (told["job_name"], told["status"]) == (name, "completed")
    # What was shown is what was sent, and what SageMaker has.
    sent = {key: told[key] for key in shown["request"]}
    assert sent == shown["request"]
    described: dict[str, Any] = cloud.aws.client("sagemaker").describe_training_job(
        TrainingJobName=name
    )
    assert described["TrainingJobStatus"] == "Completed"
    experiments = cloud.aws.client("sagemaker").list_experiments(MaxResults=100)
    assert "trials" in [each["ExperimentName"] for each in experiments["ExperimentSummaries"]]
    assert {key: described[key] for key in sent if key != "Tags"} == {
        key: value for key, value in sent.items() if key != "Tags"
    }


def test_a_job_is_left_alone_unless_it_is_to_be_followed_and_is_made_once(cloud: Cloud) -> None:
    name = new_name()
    first = cloud.launch("--name", name, "--yes", "--format", "json")
    assert json.loads(first.stdout)["status"] == "submitted"
    assert f"python -m training.jobs logs -f {name}" in first.stderr
    again = cloud.launch("--name", name, "--yes")
    assert "is there already, from the same request" in again.stderr
    assert cloud.jobs().count(name) == 1
    other = cloud.launch("--name", name, "--yes", "--set", "hyperparameters.seed=1", exit_code=3)
    assert f"{name}" in other.stderr
    assert cloud.jobs().count(name) == 1


def wait_until_ended(cloud: Cloud, name: str) -> None:
    client = cloud.aws.client("sagemaker")
    for _ in range(120):
        if client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Stopped":
            return
        time.sleep(0.5)
    raise AssertionError(f"{name} did not end")


@pytest.mark.slow
def test_a_job_that_was_stopped_is_not_launched_again_and_its_end_is_told(cloud: Cloud) -> None:
    command = ("--name", new_name(), "--yes", "--set")
    ends = "tags={localaws:seconds: '1', localaws:ending: MaxRuntimeExceeded}"
    cloud.launch(*command, ends)
    wait_until_ended(cloud, command[1])
    again = cloud.launch(*command, ends, exit_code=130)
    assert "is on its way" not in again.stderr
    assert "(Stopped): no other was started; for another, give another --name" in again.stderr
    assert "before there was a checkpoint. To begin anew, launch it again, under" in again.stderr


def test_a_budget_refuses_a_job_whose_price_is_not_known(cloud: Cloud) -> None:
    name = new_name()
    done = cloud.launch("--name", name, "--yes", "--set", "limits.max_usd=0", exit_code=3)
    assert "limits.max_usd" in done.stderr
    assert name not in cloud.jobs()
