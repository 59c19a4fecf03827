from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.training.data.on.samples import errand, outputs
from tests.training.platforms.sagemaker.fake_aws import description
from tests.training.platforms.sagemaker.service_model import complaints
from training.data.on import sagemaker
from training.data.places import Place
from training.errors import Interrupted, JobFailed, PreflightError


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
        self.status = "Failed"
        self._end = end
        monkeypatch.setattr("training.platforms.common.patience.connect", lambda: self)
        monkeypatch.setattr("training.platforms.sagemaker.submission.submit", self.submit)
        monkeypatch.setattr("training.platforms.sagemaker.follow.follow", self.follow)

    @property
    def sagemaker(self) -> Recorder:
        return self

    def submit(self, _: Any, body: Any) -> None:
        self.sent.append(body)

    def follow(self, _: Any, name: str, show: Callable[[str], None]) -> None:
        show(f"a line of {name}")
        self._end()

    def training_job(self, _: str) -> dict[str, Any]:
        return {**description(self.status, self.status), "TrainingJobName": "stage-one"}


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


def test_a_run_that_somebody_stopped_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    Recorder(monkeypatch, failed("stage-one was stopped by request")).status = "Stopped"
    with pytest.raises(Interrupted, match="the same command goes on from there"):
        sagemaker.send(sagemaker.plan(errand(), outputs()), outputs(), lambda _: None)
