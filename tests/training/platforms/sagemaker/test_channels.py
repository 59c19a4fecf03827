"""Where the data is, and where a job writes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker.planning import SUBNETS, body, launch, outputs, plan


def sources(found: dict[str, Any]) -> dict[str, Any]:
    return {channel["ChannelName"]: channel["DataSource"] for channel in found["InputDataConfig"]}


def test_on_s3_the_data_is_a_folder_and_nothing_is_written_to_a_channel() -> None:
    found = body(data_source="s3", name="job-1")
    assert sources(found) == {
        "train": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": "s3://bucket/mask-rcnn/sagemaker/input/train/",
                "S3DataDistributionType": "FullyReplicated",
            }
        }
    }
    assert found["CheckpointConfig"] == {
        "S3Uri": "s3://bucket/mask-rcnn/sagemaker/output/log-job-1",
        "LocalPath": "/opt/ml/checkpoints",
    }
    assert found["Environment"]["MASK_RCNN_DATA"] == "/opt/ml/input/data/train"
    assert found["Environment"]["MASK_RCNN_LOG"] == "/opt/ml/checkpoints"


@pytest.mark.parametrize(
    ("source", "file_system", "kind", "root"),
    [
        ("efs", "fs-0123456789abcdef0", "EFS", ""),
        ("fsx", "fs-0123456789abcdef9", "FSxLustre", "/abcdefgh/data"),
    ],
)
def test_on_a_file_system_data_is_read_and_a_new_folder_is_written(
    source: str, file_system: str, kind: str, root: str
) -> None:
    found = body(data_source=source, name="job-1")
    common = {"FileSystemId": file_system, "FileSystemType": kind}
    assert sources(found) == {
        "train": {
            "FileSystemDataSource": {
                **common,
                "FileSystemAccessMode": "ro",
                "DirectoryPath": f"{root}/mask-rcnn/sagemaker/input/train",
            }
        },
        "log": {
            "FileSystemDataSource": {
                **common,
                "FileSystemAccessMode": "rw",
                "DirectoryPath": f"{root}/mask-rcnn/sagemaker/output/log-job-1",
            }
        },
    }
    assert "CheckpointConfig" not in found
    assert found["Environment"]["MASK_RCNN_LOG"] == "/opt/ml/input/data/log"


@pytest.mark.parametrize("data_path", ["/", "/data", "/a/b/"])
def test_a_path_of_lustre_begins_with_the_mount_name_and_the_data_path(data_path: str) -> None:
    found = body(stacks=outputs(FsxDataPath=data_path), data_source="fsx")
    path = sources(found)["train"]["FileSystemDataSource"]["DirectoryPath"]
    below = f"{data_path.strip('/')}/".lstrip("/")
    assert path == f"/abcdefgh/{below}mask-rcnn/sagemaker/input/train"


def test_lustre_is_used_from_its_own_subnet_and_the_others_from_all() -> None:
    subnets = {source: body(data_source=source)["VpcConfig"] for source in ("s3", "efs", "fsx")}
    group = ["sg-0123456789abcdef0"]
    assert subnets == {
        "s3": {"SecurityGroupIds": group, "Subnets": SUBNETS},
        "efs": {"SecurityGroupIds": group, "Subnets": SUBNETS},
        "fsx": {"SecurityGroupIds": group, "Subnets": [SUBNETS[1]]},
    }


def test_a_prefix_of_the_bucket_stands_before_everything_on_s3_and_nowhere_else() -> None:
    prefixed = outputs(BucketPrefix="ml-platform")
    found = body(stacks=prefixed, name="job-1", channels__train="coco", channels__log="logs")
    assert sources(found)["train"]["S3DataSource"]["S3Uri"] == "s3://bucket/ml-platform/coco/"
    assert found["OutputDataConfig"]["S3OutputPath"] == "s3://bucket/ml-platform/logs"
    assert found["CheckpointConfig"]["S3Uri"] == "s3://bucket/ml-platform/logs/log-job-1"
    assert found["TensorBoardOutputConfig"]["S3OutputPath"] == "s3://bucket/ml-platform/logs"
    on_efs = body(stacks=prefixed, data_source="efs", channels__train="coco")
    assert sources(on_efs)["train"]["FileSystemDataSource"]["DirectoryPath"] == "/coco"


def test_streaming_and_sharing_out_are_for_s3_alone() -> None:
    """The same spec goes with another data source: what it does not have is left out."""
    options = {"sagemaker__input_mode": "FastFile", "sagemaker__s3_distribution": "ShardedByS3Key"}
    found = body(**options)
    assert found["AlgorithmSpecification"]["TrainingInputMode"] == "FastFile"
    source = sources(found)["train"]["S3DataSource"]
    assert source["S3DataDistributionType"] == "ShardedByS3Key"
    on_efs = body(data_source="efs", **options)
    assert on_efs["AlgorithmSpecification"]["TrainingInputMode"] == "File"


def test_a_new_job_is_named_after_data_source_and_time_and_so_is_its_folder() -> None:
    found = body(data_source="efs")
    assert found["TrainingJobName"] == "mask-rcnn-efs-2026-01-02-03-04-05"
    path = sources(found)["log"]["FileSystemDataSource"]["DirectoryPath"]
    assert path == "/mask-rcnn/sagemaker/output/log-2026-01-02-03-04-05"
    assert found["Tags"] == [
        {"Key": "Project", "Value": "mask-rcnn"},
        {"Key": "Job", "Value": "mask-rcnn-efs-2026-01-02-03-04-05"},
    ]


@pytest.mark.parametrize(
    ("name", "log", "job"),
    [
        ("job-1", "log-job-1", "job-1-2026-01-02-03-04-05"),
        # The name that a launch without a name has shown.
        (
            "mask-rcnn-efs-2025-12-31-23-59-59",
            "log-2025-12-31-23-59-59",
            "mask-rcnn-efs-2025-12-31-23-59-59-2026-01-02-03-04-05",
        ),
        ("a" * 63, f"log-{'a' * 63}", f"{'a' * 43}-2026-01-02-03-04-05"),
        (f"{'a' * 42}-{'b' * 20}", f"log-{'a' * 42}-{'b' * 20}", f"{'a' * 42}-2026-01-02-03-04-05"),
    ],
)
@pytest.mark.parametrize("source", ["efs", "s3"])
def test_a_job_that_goes_on_writes_where_the_first_wrote_under_a_new_name(
    name: str, log: str, job: str, source: str
) -> None:
    planned = plan(launched=launch(resume=True), data_source=source, name=name)
    found = planned.request.to_json()
    assert found["TrainingJobName"] == planned.job_name == job
    place = (
        sources(found)["log"]["FileSystemDataSource"]["DirectoryPath"]
        if source == "efs"
        else found["CheckpointConfig"]["S3Uri"]
    )
    assert place.endswith(f"/mask-rcnn/sagemaker/output/{log}")
    # Both are paid for as one.
    assert {"Key": "Job", "Value": name} in found["Tags"]


def test_the_folder_is_made_before_the_job_unless_there_is_none() -> None:
    assert plan(data_source="s3").before == ()
    (step,) = plan(data_source="efs", name="job-1").before
    assert "log folder /mask-rcnn/sagemaker/output/log-job-1 of EFS" in step.what
    (step,) = plan(data_source="fsx", name="job-1").before
    assert step.request is not None
    assert step.request["VpcConfig"]["Subnets"] == [SUBNETS[1]]
