"""What a launch writes down of its job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.platforms.ec2 import planning as ec2
from tests.training.platforms.eks import planning as eks
from tests.training.platforms.sagemaker import planning as sagemaker
from training import launch as launcher
from training import platforms
from training.job import read_job
from training.job_options import JobOptions
from training.jobs.launched import remember
from training.jobs.record import Record, Recorded


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    return Record.of({"XDG_STATE_HOME": str(tmp_path)})


def only(record: Record) -> Recorded:
    (found,) = record.read()[0]
    return found


@pytest.mark.parametrize("source", ["s3", "efs", "fsx"])
def test_a_job_for_sagemaker_has_the_sessions_region_and_the_roles_account(
    record: Record, source: str
) -> None:
    plan = sagemaker.plan(name="mine", data_source=source)
    remember(plan)
    found = only(record)
    body = plan.request.to_json()
    assert (found.name, found.platform, found.region) == ("mine", "sagemaker", "eu-west-1")
    assert found.account == body["RoleArn"].split(":")[4]
    assert found.instance_type == "ml.p4d.24xlarge"
    assert found.created is not None
    assert found.log is not None
    if source == "s3":
        assert found.log == body["CheckpointConfig"]["S3Uri"].rstrip("/")
    else:
        assert found.log.startswith("fs-")
        assert found.log.endswith("/log-mine")


@pytest.mark.parametrize("planning", [ec2, eks])
def test_a_job_for_a_cluster_has_its_region_and_a_folder_on_efs(
    record: Record, planning: Any
) -> None:
    plan = planning.plan(name="mine", data_source="s3")
    remember(plan)
    found, request = only(record), plan.request
    assert (found.name, found.platform) == ("mine", plan.platform)
    assert (found.region, found.account) == (request.region, request.account)
    assert found.log == f"{request.storage.efs_id}:/mask-rcnn/sagemaker/output/log-mine"
    assert found.instance_type == "p4d.24xlarge"


def test_machines_of_different_types_are_written_down_without_one(record: Record) -> None:
    remember(ec2.plan(stacks=ec2.outputs(HeadInstanceType="p4de.24xlarge")))
    assert only(record).instance_type is None


def test_containers_on_this_machine_are_not_written_down(record: Record) -> None:
    remember(sagemaker.plan(name="mine", data_source="s3", instances__type="local"))
    assert record.read() == ([], 0)


def test_a_record_that_cannot_be_written_stops_no_launch(
    record: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    record.file.mkdir(parents=True)
    remember(sagemaker.plan(name="mine", data_source="s3"))
    assert capsys.readouterr().err.startswith(
        "The job is not written down here, and is launched all the same: "
    )


def test_a_launch_writes_its_job_down_before_it_is_sent(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer may be lost, and the job run all the same."""

    class Lost:
        def submit(self, *_: Any, wait: bool) -> None:
            assert not wait
            assert only(record).name == "mine"
            raise ConnectionError

    plan = sagemaker.plan(name="mine", data_source="s3")
    monkeypatch.setattr(platforms, "load", lambda _: Lost())
    job = read_job(None, {"platform": "sagemaker"})
    monkeypatch.setattr(JobOptions, "plan", lambda _: (job, plan))
    monkeypatch.setattr(launcher, "_find", lambda *_, **__: launcher._Checked(()))
    with pytest.raises(ConnectionError):
        launcher.app(["--yes"], standalone_mode=False)
    assert only(record).name == "mine"
