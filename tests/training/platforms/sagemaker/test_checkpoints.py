"""Whether a job that was stopped left a checkpoint, as far as it can be seen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.fake_aws import (
    Failing,
    FakeClients,
    FakeLogs,
    FakeS3,
    FakeSageMaker,
    description,
    patience,
    refused,
)
from training.aws.errors import AwsUnreachable
from training.errors import AwsError
from training.platforms.sagemaker.checkpoints import look_for_checkpoint
from training.platforms.sagemaker.ending import Checkpoint
from training.platforms.sagemaker.state import read_state


def look(s3: FakeS3, **more: Any) -> Checkpoint:
    clock = Clockwork()
    clients = FakeClients(FakeSageMaker(clock, []), FakeLogs(clock, {}), s3)
    state = read_state({"TrainingJobName": "j", **description("Stopped", "Stopped", **more)})
    return look_for_checkpoint(state, patience(clients, clock, []))


ON_S3 = {"CheckpointConfig": {"S3Uri": "s3://b/out/log-run-7"}}


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("out/log-run-7/checkpoints/step-40.pt", Checkpoint.THERE),
        ("out/log-run-7/checkpoints/attempt-2/model-500.index", Checkpoint.THERE),
        ("out/log-run-7/checkpoints/attempt-2/model-500.data-00000-of-00001", Checkpoint.NONE),
        ("out/log-run-7/checkpoints/attempt-2/events.out.tfevents.1", Checkpoint.NONE),
        ("out/log-run-7/checkpoints/step-40.pt.tmp", Checkpoint.NONE),
        ("out/log-run-70/checkpoints/step-40.pt", Checkpoint.NONE),
        ("out/log-run-7/job.json", Checkpoint.NONE),
    ],
)
def test_only_whole_checkpoints_of_the_run_count(key: str, found: Checkpoint) -> None:
    assert look(FakeS3([key]), **ON_S3) is found


def test_folders_of_a_file_system_cannot_be_seen() -> None:
    source = {"FileSystemDataSource": {"DirectoryPath": "/out/log-run-7"}}
    channels = [{"DataSource": source}]
    assert look(FakeS3(), InputDataConfig=channels) is Checkpoint.UNKNOWN
    # The place on S3 that goes with spot capacity stays empty then.
    assert look(FakeS3(), InputDataConfig=channels, **ON_S3) is Checkpoint.UNKNOWN


@pytest.mark.parametrize("error", [refused("AccessDenied"), AwsUnreachable("no route")])
def test_a_bucket_that_cannot_be_read_leaves_it_open(error: AwsError) -> None:
    unreadable = FakeS3(fails=Failing(*[error] * 9))
    assert look(unreadable, **ON_S3) is Checkpoint.UNKNOWN
