"""How the log folder of a job would be made, by where the launch is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.platforms.sagemaker import planning
from tests.training.platforms.sagemaker.service_model import complaints
from training.data.mounts import MOUNTS_VARIABLE
from training.errors import UsageError
from training.job import read_job
from training.outputs import NetworkOutputs, StorageOutputs
from training.platforms.api import Launch, StepBefore
from training.platforms.sagemaker.fingerprint import fingerprint_of, with_fingerprint
from training.platforms.sagemaker.log_folder import FolderHere, FolderJob
from training.platforms.sagemaker.one_instance import has_nvme
from training.platforms.sagemaker.preparation import folder_job_name, plan_preparation

NETWORK = planning.outputs().read(NetworkOutputs)
STORAGE = planning.outputs().read(StorageOutputs)

JOB_NAME = "mask-rcnn-efs-2026-01-02-03-04-05"
LOG_PATH = "mask-rcnn/sagemaker/output/log-2026-01-02-03-04-05"
TRAIN = "mask-rcnn/sagemaker/input/train"


def steps(
    source: str, launch: Launch, *, log_path: str = LOG_PATH, **overrides: Any
) -> tuple[StepBefore, ...]:
    return plan_preparation(
        read_job(None, {"data_source": source, "platform": "sagemaker", **overrides}),
        network=NETWORK,
        storage=STORAGE,
        image=planning.IMAGE,
        log_path=log_path,
        job_name=JOB_NAME,
        launch=launch,
    )


def launched(mounts: Path) -> Launch:
    """Return a launch on a machine that has file systems below a folder, by their ids."""
    environ: dict[str, Any] = {MOUNTS_VARIABLE: str(mounts)}
    return planning.launch(**environ)


def only_job(source: str, launch: Launch | None = None, **overrides: Any) -> FolderJob:
    [step] = steps(source, launch or planning.launch(), **overrides)
    assert isinstance(step, FolderJob)
    return step


def body_of(step: FolderJob) -> dict[str, Any]:
    assert step.request is not None
    return dict(step.request)


def test_with_s3_there_is_nothing_to_make() -> None:
    assert steps("s3", planning.launch()) == ()


def test_on_efs_that_is_not_mounted_a_training_job_makes_the_folder() -> None:
    step = only_job("efs", tags={"team": "vision"})
    assert step.what == (
        f"make the log folder /{LOG_PATH} of EFS {STORAGE.efs_id} with training job "
        f"{JOB_NAME}-folders on one ml.m5.large, a few minutes: the file system is not mounted on "
        "this machine"
    )
    body = body_of(step)
    assert body == with_fingerprint(
        {
            "TrainingJobName": f"{JOB_NAME}-folders",
            "AlgorithmSpecification": {
                "TrainingImage": planning.IMAGE,
                "TrainingInputMode": "File",
                "ContainerArguments": ["folders", "--make", LOG_PATH, "--need", TRAIN],
            },
            "RoleArn": STORAGE.training_role_arn,
            "InputDataConfig": [
                {
                    "ChannelName": "root",
                    "DataSource": {
                        "FileSystemDataSource": {
                            "FileSystemId": STORAGE.efs_id,
                            "FileSystemAccessMode": "rw",
                            "FileSystemType": "EFS",
                            "DirectoryPath": "/",
                        }
                    },
                }
            ],
            "OutputDataConfig": {
                "S3OutputPath": "s3://bucket/mask-rcnn/sagemaker/output",
                "KmsKeyId": planning.KEY_ARN,
            },
            "ResourceConfig": {
                "InstanceType": "ml.m5.large",
                "InstanceCount": 1,
                "VolumeSizeInGB": 30,
                "VolumeKmsKeyId": planning.KEY_ARN,
            },
            "VpcConfig": {
                "SecurityGroupIds": ["sg-0123456789abcdef0"],
                "Subnets": planning.SUBNETS,
            },
            "StoppingCondition": {"MaxRuntimeInSeconds": 1800},
            "EnableNetworkIsolation": False,
            "Tags": [
                {"Key": "Project", "Value": "mask-rcnn"},
                {"Key": "Job", "Value": JOB_NAME},
                {"Key": "team", "Value": "vision"},
            ],
        }
    )
    assert complaints(body) == []


def test_on_fsx_it_runs_in_its_zone_and_below_its_data_path() -> None:
    body = body_of(only_job("fsx"))
    assert body["VpcConfig"]["Subnets"] == [planning.SUBNETS[1]]
    [channel] = body["InputDataConfig"]
    source = channel["DataSource"]["FileSystemDataSource"]
    assert source["FileSystemType"] == "FSxLustre"
    assert source["FileSystemId"] == STORAGE.fsx_id
    assert source["DirectoryPath"] == "/abcdefgh"
    assert body["AlgorithmSpecification"]["ContainerArguments"] == [
        *("folders", "--make", f"data/{LOG_PATH}", "--need", f"data/{TRAIN}")
    ]
    assert complaints(body) == []


def test_a_job_that_goes_on_has_its_folder_already() -> None:
    step = only_job("efs", planning.launch(resume=True))
    assert body_of(step)["AlgorithmSpecification"]["ContainerArguments"] == [
        *("folders", "--need", LOG_PATH, "--need", TRAIN)
    ]
    assert step.what.startswith("look for the log folder")


def test_the_users_choice_of_instance_and_isolation_is_taken() -> None:
    wanted: dict[str, Any] = {
        "sagemaker.preparation_instance_type": "ml.m5d.large",
        "sagemaker.network_isolation": True,
    }
    step = only_job("efs", **wanted)
    body = body_of(step)
    # SageMaker takes neither a size nor a key where there is no EBS volume.
    assert body["ResourceConfig"] == {"InstanceType": "ml.m5d.large", "InstanceCount": 1}
    assert body["EnableNetworkIsolation"] is True
    assert "on one ml.m5d.large" in step.what


def test_the_instance_may_be_named_without_ml() -> None:
    step = only_job("efs", **{"sagemaker.preparation_instance_type": "c5.xlarge"})
    assert body_of(step)["ResourceConfig"]["InstanceType"] == "ml.c5.xlarge"


def test_where_efs_is_mounted_the_folder_is_made_here(tmp_path: Path) -> None:
    (tmp_path / STORAGE.efs_id).mkdir()
    [step] = steps("efs", launched(tmp_path))
    here = tmp_path / STORAGE.efs_id
    assert step == FolderHere(
        what=f"make the log folder {here / LOG_PATH}: EFS {STORAGE.efs_id} is mounted on this "
        "machine",
        log=here / LOG_PATH,
        train=here / TRAIN,
        resume=False,
    )
    assert step.to_json()["request"] is None
    assert list(here.iterdir()) == [], "a plan makes nothing"


def test_where_fsx_is_mounted_the_folder_is_below_its_data_path(tmp_path: Path) -> None:
    assert STORAGE.fsx_id
    (tmp_path / STORAGE.fsx_id).mkdir()
    [step] = steps("fsx", launched(tmp_path))
    assert isinstance(step, FolderHere)
    assert step.log == tmp_path / STORAGE.fsx_id / "data" / LOG_PATH
    assert step.train == tmp_path / STORAGE.fsx_id / "data" / TRAIN


def test_where_this_user_may_not_write_a_training_job_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / STORAGE.efs_id / "mask-rcnn/sagemaker/output"
    output.mkdir(parents=True)
    # Root may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda path, _mode: path != output)
    step = only_job("efs", launched(tmp_path))
    assert step.what.endswith(f"a few minutes: this user may not write to {output}")


def test_a_path_that_is_too_long_for_an_argument_is_told_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match=r"has 300 characters, and .* takes 256; choose a shorter"):
        steps("efs", planning.launch(), log_path="x" * 300)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mask-rcnn-fsx-2026-01-02-03-04-05", "mask-rcnn-fsx-2026-01-02-03-04-05-folders"),
        # The user's name may be used again after a failure, and SageMaker takes each once.
        ("mine", "mine-folders-20260102030405"),
        (f"{'m' * 62}x", f"{'m' * 31}-02671cf6-folders-20260102030405"),
    ],
)
def test_the_training_job_is_named_after_the_job(name: str, expected: str) -> None:
    assert folder_job_name(name, planning.launch()) == expected


@given(st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?", fullmatch=True))
def test_every_name_of_a_job_gives_one_that_sagemaker_takes(name: str) -> None:
    request = {"TrainingJobName": folder_job_name(name, planning.launch())}
    assert complaints(request, "DescribeTrainingJob") == []


def test_long_names_that_begin_alike_stay_apart() -> None:
    first, second = (folder_job_name("m" * 60 + end, planning.launch()) for end in "ab")
    assert first != second


@pytest.mark.parametrize(
    ("instance_type", "has"),
    [
        *[("ml.m5.large", False), ("ml.m5d.large", True), ("ml.c6id.4xlarge", True)],
        *[("ml.r5d.large", True), ("ml.c5.large", False), ("ml.t3.medium", False)],
        *[("ml.p3.16xlarge", False), ("ml.p3dn.24xlarge", True), ("ml.g5.xlarge", True)],
    ],
)
def test_which_types_have_nvme(instance_type: str, has: bool) -> None:
    assert has_nvme(instance_type) is has


def test_the_request_carries_its_fingerprint() -> None:
    found = fingerprint_of(body_of(only_job("efs")))
    assert found
    assert found != fingerprint_of(body_of(only_job("fsx")))
