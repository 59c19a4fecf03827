"""When a data repository task may begin, and how it ends."""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.s3.models import s3_backends

from localaws import file_systems
from localaws.environment import ACCOUNT_ID
from localaws.fsx.backend import LustreBackend
from localaws.fsx.errors import BadRequest, TaskExecuting
from localaws.fsx.tasks import EXPORT, Task

REPORT = {"Enabled": False}


@pytest.fixture
def bucket() -> Iterator[str]:
    name, s3 = f"tasks-{uuid.uuid4().hex[:12]}", s3_backends[ACCOUNT_ID]["aws"]
    s3.create_bucket(name, "us-east-1")
    yield name
    if name in s3.buckets:
        s3.delete_bucket(name)


@pytest.fixture
def linked(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[LustreBackend, dict[str, Any]]:
    """FSx with a linked file system, and a request for a task."""
    monkeypatch.setattr(file_systems, "_root", tmp_path)
    fsx = LustreBackend("us-east-1", ACCOUNT_ID)
    configuration = {"DeploymentType": "SCRATCH_2"}
    made = fsx.make_file_system(
        {"FileSystemType": "LUSTRE", "LustreConfiguration": configuration}
    ).file_system_id
    fsx.associate({"FileSystemId": made, "DataRepositoryPath": f"s3://{bucket}"})
    return fsx, {"Type": EXPORT, "FileSystemId": made, "Report": REPORT}


def wait_for_end(task: Task) -> None:
    deadline = time.monotonic() + 20
    while not task.has_ended:
        assert time.monotonic() < deadline, "it never ended"
        time.sleep(0.01)


def test_one_task_of_a_file_system_runs_at_a_time_and_keeps_it_from_being_deleted(
    linked: tuple[LustreBackend, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fsx, request = linked
    go_on = threading.Event()
    monkeypatch.setattr(Task, "_take_steps", lambda *_: go_on.wait(20))
    task = fsx.run_task(request)
    with pytest.raises(TaskExecuting, match="has not ended"):
        fsx.run_task(request)
    with pytest.raises(BadRequest, match="has not ended"):
        fsx.unmake_file_system(request["FileSystemId"])
    fsx.cancel_task(task.task_id)
    assert task.lifecycle == "CANCELING"
    go_on.set()
    wait_for_end(task)
    assert task.lifecycle == "CANCELED"
    second = fsx.run_task(request)
    wait_for_end(second)
    assert second.lifecycle == "SUCCEEDED"


def test_task_whose_bucket_goes_away_fails(
    linked: tuple[LustreBackend, dict[str, Any]], bucket: str
) -> None:
    fsx, request = linked
    (repository,) = fsx.repositories_of(request["FileSystemId"], EXPORT)
    (repository.folder / "file").write_bytes(b"x")
    s3_backends[ACCOUNT_ID]["aws"].delete_bucket(bucket)
    task = fsx.run_task(request)
    wait_for_end(task)
    shown = task.to_dict()
    assert shown["Lifecycle"] == "FAILED"
    assert shown["FailureDetails"] == {"Message": "the bucket does not exist"}


def test_task_that_ran_when_local_aws_stopped_is_canceled_when_it_starts_again() -> None:
    task = Task({"Type": EXPORT, "FileSystemId": "fs-1", "Report": REPORT}, "arn")
    task.lifecycle = "EXECUTING"
    assert pickle.loads(pickle.dumps(task)).lifecycle == "CANCELED"
    task.lifecycle = "SUCCEEDED"
    assert pickle.loads(pickle.dumps(task)).lifecycle == "SUCCEEDED"
