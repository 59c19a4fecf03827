"""Plans against what the SageMaker SDK 3 sends for the same jobs.

sdk/model_trainer.json has jobs as they were planned when the SDK was last asked, and what its
`ModelTrainer` sent for them. To ask it again:

    python -m tests.training.platforms.sagemaker.test_sdk
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.training.platforms.sagemaker.comparison import ABSENT, differences, fields
from tests.training.platforms.sagemaker.planning import body
from tests.training.platforms.sagemaker.sdk.environment import HERE, run_in_environment

CAPTURED = HERE / "model_trainer.json"

JOBS: dict[str, dict[str, Any]] = {
    "tensorpack on efs": {"algorithm": "tensorpack", "data_source": "efs"},
    "horovod on s3, spot, with all that can be added": {
        "data_source": "s3",
        "spot__enabled": True,
        "retries": 2,
        "environment": {"NCCL_DEBUG": "INFO"},
        "tags": {"Team": "vision"},
        "sagemaker__encrypt_traffic": True,
        "sagemaker__health_checks": True,
        "sagemaker__input_mode": "FastFile",
    },
    "aws-samples on s3, shared out": {
        "algorithm": "aws-samples",
        "sagemaker__s3_distribution": "ShardedByS3Key",
        "sagemaker__keep_alive_s": 600,
    },
    "tf2-smddp on fsx, isolated": {
        "algorithm": "tf2-smddp",
        "data_source": "fsx",
        "sagemaker__network_isolation": True,
        "sagemaker__tensorboard": False,
    },
}

ALLOWED = {
    "TrainingJobName": "the SDK puts a time of its own in the name",
    "OutputDataConfig.CompressionType": "the SDK spells out the default, GZIP",
    "ResourceConfig.VolumeSizeInGB": "the SDK sends 30 for types with NVMe, which get no volume",
}
"""By field: why the requests may differ. An experiment is not compared: the SDK takes it from a run
that goes on around a job, and not from its arguments."""

NAMED_BY_USERS = ("HyperParameters.", "Environment.", "AlgorithmSpecification.MetricDefinitions")


def check_pair(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Require that what the SDK sends is what is planned, but for what is allowed."""
    found = list(differences(ours, theirs))
    assert [each for each in found if each.field not in ALLOWED] == []
    for each in found:
        if each.field == "OutputDataConfig.CompressionType":
            assert (each.ours, each.theirs) == (ABSENT, "GZIP")
        if each.field == "ResourceConfig.VolumeSizeInGB":
            assert (each.ours, each.theirs) == (ABSENT, 30)
            assert ours["ResourceConfig"]["InstanceType"].split(".")[1] in {"p4d", "p3dn"}


def structure(request: dict[str, Any]) -> set[str]:
    return {field for field in fields(request) if not field.startswith(NAMED_BY_USERS)}


@pytest.fixture(scope="module")
def captured() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(CAPTURED.read_text())
    return document


@pytest.mark.parametrize("job", JOBS)
def test_the_sdk_sends_the_same_request(job: str, captured: dict[str, Any]) -> None:
    pair = captured["jobs"][job]
    check_pair(pair["planned"], pair["sent"])


@pytest.mark.parametrize("job", JOBS)
def test_the_sdk_was_asked_for_jobs_with_the_fields_of_today(
    job: str, captured: dict[str, Any]
) -> None:
    then, now = structure(captured["jobs"][job]["planned"]), structure(body(**JOBS[job]))
    assert then == now, "a plan has other fields now: ask the SDK again, see the top of this file"


def test_the_sdk_is_the_one_that_is_pinned(captured: dict[str, Any]) -> None:
    assert captured["sdk"] in (HERE / "model_trainer.txt").read_text().splitlines()


@pytest.mark.soak
def test_the_sdk_itself_sends_the_same_request() -> None:
    planned = [body(**options) for options in JOBS.values()]
    for ours, theirs in zip(planned, run_in_environment("model_trainer", planned), strict=True):
        check_pair(ours, theirs)


def main() -> None:
    planned = [body(**options) for options in JOBS.values()]
    pairs = zip(JOBS, planned, run_in_environment("model_trainer", planned), strict=True)
    pins = (HERE / "model_trainer.txt").read_text().splitlines()
    document = {
        "sdk": next(line for line in pins if line.startswith("sagemaker==")),
        "jobs": {job: {"planned": ours, "sent": theirs} for job, ours, theirs in pairs},
    }
    CAPTURED.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
