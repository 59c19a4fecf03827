from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.training.data.on.samples import errand, of_task, outputs, stage_request
from tests.training.platforms.sagemaker.fake_aws import description
from tests.training.platforms.sagemaker.service_model import complaints
from training.data.on import sagemaker
from training.data.on.errand import Task, of_stage, of_verify
from training.data.places import Place
from training.errors import AwsError, Interrupted, JobFailed, PreflightError, UsageError
from training.platforms.sagemaker.state import JobState, read_state
from training.preflight.job.asked import Asked


@pytest.mark.parametrize(
    ("origin", "to", "channels"),
    [("s3", "efs", ["efs"]), ("fsx", "s3", ["fsx"]), ("efs", "fsx", ["efs", "fsx"])],
)
def test_whole_file_systems_are_channels_to_write_to(
    origin: str, to: str, channels: list[str]
) -> None:
    body = sagemaker.plan(errand(from_place=Place(origin), to=Place(to)), outputs()).request
    assert complaints(dict(body)) == []
    found = {each["ChannelName"]: each["DataSource"] for each in body["InputDataConfig"]}
    assert sorted(found) == channels
    for source in found.values():
        assert source["FileSystemDataSource"]["FileSystemAccessMode"] == "rw"
    paths = [found[each]["FileSystemDataSource"]["DirectoryPath"] for each in channels]
    assert paths == [{"efs": "/", "fsx": "/abcdefgh"}[each] for each in channels]
    # FSx is in one zone, and S3 is reached from inside the VPC.
    assert len(body["VpcConfig"]["Subnets"]) == (1 if "fsx" in channels else 3)
    assert body["EnableNetworkIsolation"] is False


@pytest.mark.parametrize(
    "task",
    [
        of_stage(stage_request(source="s3://other/set", to=Place.S3)),
        of_verify("s3:", "s3://other/set", jobs=4),
    ],
)
def test_from_s3_to_s3_no_file_system_is_mounted(task: Task) -> None:
    body = sagemaker.plan(of_task(task), outputs()).request
    # SageMaker takes no empty list of channels.
    assert complaints(dict(body)) == []
    assert "InputDataConfig" not in body
    assert Asked.of(body).file_systems == ()


@pytest.mark.parametrize("given", ["", "c5.4xlarge", "ml.c5", "ml.c5.4xlarge; rm"])
def test_what_is_no_instance_type_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="expected a type of SageMaker's, such as ml"):
        sagemaker.plan(replace(errand(), instance_type=given), outputs())


def test_the_container_runs_the_same_command_and_is_told_where_it_is() -> None:
    body = sagemaker.plan(errand(), outputs()).request
    arguments = body["AlgorithmSpecification"]["ContainerArguments"]
    assert arguments[:4] == ["data", "stage", "--to", "efs"]
    told = body["HyperParameters"]
    assert told["mounts"] == '{"fs-0123456789abcdef0":"/opt/ml/input/data/efs"}'
    tags = {each["Key"]: each["Value"] for each in body["Tags"]}
    assert tags["Job"] == "stage-one"


class Recorder:
    """SageMaker: takes the request, and the job ends as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, end: Callable[[], None]) -> None:
        self.sent: list[Any] = []
        self.status = self.secondary = "Failed"
        self.found: JobState | None = None
        """The job that has the name already."""
        self.refusal: AwsError | None = None
        """Of what is asked after the end."""
        self._end = end
        monkeypatch.setattr("training.platforms.common.patience.connect", lambda: self)
        monkeypatch.setattr("training.platforms.sagemaker.submission.submit", self.submit)
        monkeypatch.setattr("training.platforms.sagemaker.follow.follow", self.follow)

    @property
    def sagemaker(self) -> Recorder:
        return self

    def submit(self, _: Any, body: Any) -> JobState | None:
        self.sent.append(body)
        return self.found

    def follow(self, _: Any, name: str, show: Callable[[str], None]) -> None:
        show(f"a line of {name}")
        self._end()

    def training_job(self, _: str) -> dict[str, Any]:
        if self.refusal:
            raise self.refusal
        return {**description(self.status, self.secondary), "TrainingJobName": "stage-one"}


def failed(text: str) -> Callable[[], None]:
    def end() -> None:
        raise JobFailed(text)

    return end


def test_the_plan_is_sent_as_it_is_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    trip = sagemaker.plan(errand(), outputs())
    recorder, lines = Recorder(monkeypatch, lambda: None), list[str]()
    sagemaker.send(trip, outputs(), lines.append)
    assert recorder.sent == [trip.request]
    assert lines == ["a line of stage-one"]


def test_the_end_is_that_of_the_command_there(monkeypatch: pytest.MonkeyPatch) -> None:
    Recorder(monkeypatch, failed("stage-one failed: AlgorithmError: no room, exit code: 3"))
    with pytest.raises(PreflightError, match="no room"):
        sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lambda _: None)


@pytest.mark.parametrize(
    ("secondary", "why"),
    [("Stopped", "as asked"), ("MaxRuntimeExceeded", "its time limit, --max-run-s")],
)
def test_a_run_that_was_stopped_says_why_and_how_to_go_on(
    secondary: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(monkeypatch, failed("stage-one was stopped by request"))
    recorder.status, recorder.secondary = "Stopped", secondary
    # SageMaker uses a name once.
    words = rf"stopped \({why}\).*the same command goes on from there, under another --name"
    with pytest.raises(Interrupted, match=words):
        sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lambda _: None)


def test_what_aws_says_afterwards_hides_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, failed("stage-one failed: no room, exit code: 3"))
    recorder.refusal = AwsError("DescribeTrainingJob: Rate exceeded")
    with pytest.raises(PreflightError, match="no room"):
        sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lambda _: None)


def _found(status: str, age: timedelta) -> JobState:
    made = {"TrainingJobName": "stage-one", "CreationTime": datetime.now(UTC) - age}
    return read_state({**description(status, status), **made})


def test_an_old_copy_is_not_told_as_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, lines = Recorder(monkeypatch, lambda: None), list[str]()
    recorder.found = _found("Completed", timedelta(days=1))
    with pytest.raises(
        UsageError, match=r"has completed; nothing was done now\. Give another --name"
    ):
        sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lines.append)
    assert lines == []


@pytest.mark.parametrize(
    ("status", "age"),
    [("InProgress", timedelta(days=1)), ("Completed", timedelta(seconds=20))],
)
def test_a_copy_that_goes_on_or_whose_answer_was_lost_is_followed(
    status: str, age: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, lines = Recorder(monkeypatch, lambda: None), list[str]()
    recorder.found = _found(status, age)
    sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lines.append)
    assert lines == ["a line of stage-one"]
