"""What happens when a plan is sent, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from tests.training.platforms.sagemaker.fake_aws import description, refused
from tests.training.platforms.sagemaker.planning import launch, make_job, plan
from training.aws.clients import Clients
from training.errors import AwsError, Interrupted, JobFailed, PreflightError
from training.platforms.api import Ending, Plan
from training.platforms.sagemaker import containers, platform, sending
from training.platforms.sagemaker.log_folder import FolderJob
from training.platforms.sagemaker.request import SageMakerRequest
from training.platforms.sagemaker.state import JobState, read_state


class Recorder:
    """SageMaker, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.refusal: Exception | None = None
        self.there: Callable[[], dict[str, Any] | None] = lambda: None
        """The job that DescribeTrainingJob tells of."""
        self.found: JobState | None = None
        """The job that was there when the request was sent."""

    @property
    def sagemaker(self) -> Recorder:
        return self

    def training_job(self, name: str) -> dict[str, Any] | None:
        self.asked.append(("look", name))
        return self.there()

    def create_experiment(self, body: Mapping[str, Any]) -> None:
        self.asked.append(("create_experiment", body))
        if self.refusal is not None:
            raise self.refusal

    def submit(self, clients: Any, body: Mapping[str, Any]) -> JobState | None:
        assert clients is self
        self.asked.append(("submit", dict(body)))
        return self.found

    def follow(
        self,
        clients: Any,
        name: str,
        show: Callable[[str], None],
        *,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        assert clients is self
        self.asked.append(("follow", name))
        tell("03:04:05 Completed")
        show(f"a line of {name}")


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder()
    monkeypatch.setattr(sending, "submit", made.submit)
    monkeypatch.setattr(sending, "follow", made.follow)
    monkeypatch.setattr(sending, "connect", lambda: made)
    return made


def send(planned: Plan, recorder: Recorder, *, wait: bool) -> tuple[Ending, list[str]]:
    assert isinstance(planned.request, SageMakerRequest)
    lines: list[str] = []
    ending = sending.send(
        planned,
        planned.request.body,
        wait=wait,
        clients=cast(Clients, recorder),
        show=lines.append,
    )
    return ending, lines


def test_exactly_the_plans_request_is_sent_and_the_job_is_left_alone(recorder: Recorder) -> None:
    planned = plan(data_source="s3")
    assert send(planned, recorder, wait=False) == ("submitted", [])
    assert recorder.asked == [("submit", planned.request.to_json())]


def test_a_job_is_followed_to_its_end_where_that_is_wanted(recorder: Recorder) -> None:
    planned = plan(data_source="s3", name="job-1")
    assert send(planned, recorder, wait=True) == ("completed", ["a line of job-1"])
    assert [what for what, _ in recorder.asked] == ["submit", "follow"]


@pytest.mark.parametrize(
    ("status", "ending", "asked"),
    [
        ("InProgress", "submitted", ["submit"]),
        ("Stopped", "completed", ["submit", "follow"]),
    ],
)
def test_a_job_that_has_ended_is_not_said_to_be_on_its_way(
    status: str,
    ending: Ending,
    asked: list[str],
    recorder: Recorder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recorder.found = read_state({"TrainingJobName": "job-1", **description(status, status)})
    # How it ended is told, or raised as an error; its lines are shown to whoever waits only.
    assert send(plan(data_source="s3", name="job-1"), recorder, wait=False) == (ending, [])
    assert [what for what, _ in recorder.asked] == asked
    assert ("is on its way" in capsys.readouterr().err) is (status == "InProgress")


def test_what_is_told_of_the_folders_job_has_its_name(
    recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    send(plan(data_source="efs", name="job-1"), recorder, wait=True)
    folders = "job-1-folders-20260102030405"
    said = capsys.readouterr().err
    assert f"{folders}: 03:04:05 Completed\n{folders} is done: job-1 comes next\n" in said


def test_the_folder_is_made_and_the_experiment_before_the_job_is_sent(recorder: Recorder) -> None:
    planned = plan(data_source="efs", name="job-1", sagemaker__experiment="trials")
    send(planned, recorder, wait=False)
    folder, experiment = planned.before
    assert isinstance(folder, FolderJob)
    assert recorder.asked == [
        ("look", "job-1"),
        ("submit", folder.request),
        ("follow", folder.name),
        ("create_experiment", experiment.request),
        ("submit", planned.request.to_json()),
    ]


def test_an_experiment_that_is_there_is_taken_and_another_refusal_is_not(
    recorder: Recorder,
) -> None:
    planned = plan(sagemaker__experiment="trials")
    recorder.refusal = refused("ValidationException", "Experiment trials already exists.")
    send(planned, recorder, wait=False)
    assert [what for what, _ in recorder.asked] == ["look", "create_experiment", "submit"]
    recorder.asked.clear()
    for other in (refused("AccessDeniedException"), refused("ValidationException", "Wrong name.")):
        recorder.refusal = other
        with pytest.raises(AwsError) as raised:
            send(planned, recorder, wait=False)
        assert raised.value is other
        assert [what for what, _ in recorder.asked] == ["look", "create_experiment"]
        recorder.asked.clear()


def test_where_the_folder_cannot_be_made_no_job_is_sent(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise JobFailed("missing: mask-rcnn/sagemaker/input/train")

    monkeypatch.setattr(sending, "follow", fail)
    planned = plan(data_source="efs", name="job-1")
    with pytest.raises(PreflightError, match="no folder of training data"):
        send(planned, recorder, wait=False)
    _, (what, body) = recorder.asked
    assert (what, body["TrainingJobName"]) == ("submit", "job-1-folders-20260102030405")


def test_a_job_that_is_there_already_has_its_folder_and_is_judged_when_it_is_sent(
    recorder: Recorder,
) -> None:
    planned = plan(data_source="efs", name="job-1", sagemaker__experiment="trials")
    recorder.there = lambda: {"TrainingJobName": "job-1", "TrainingJobStatus": "InProgress"}
    assert send(planned, recorder, wait=True) == ("completed", ["a line of job-1"])
    assert recorder.asked == [
        ("look", "job-1"),
        ("submit", planned.request.to_json()),
        ("follow", "job-1"),
    ]


def test_who_may_not_look_at_a_job_that_is_not_there_launches_it(recorder: Recorder) -> None:
    def denied() -> None:
        raise refused("AccessDeniedException")

    recorder.there = denied
    send(plan(data_source="efs", name="job-1"), recorder, wait=False)
    assert [what for what, _ in recorder.asked] == ["look", "submit", "follow", "submit"]


def test_another_refusal_of_the_look_stops_before_anything_is_made(recorder: Recorder) -> None:
    def invalid() -> None:
        raise refused("InvalidClientTokenId")

    recorder.there = invalid
    with pytest.raises(AwsError):
        send(plan(data_source="efs", name="job-1"), recorder, wait=False)
    assert {what for what, _ in recorder.asked} == {"look"}


def test_a_launch_that_is_interrupted_before_it_sends_says_that_nothing_was_started(
    recorder: Recorder,
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    recorder.there = interrupt
    with pytest.raises(Interrupted, match="before job-1 was sent: no such job was started"):
        send(plan(data_source="efs", name="job-1"), recorder, wait=False)


def test_so_does_one_that_is_interrupted_while_it_finds_its_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sending, "connect", interrupt)
    with pytest.raises(Interrupted, match="before job-1 was sent: no such job was started"):
        sending.send(plan(name="job-1"), {}, wait=False)


def test_a_local_job_goes_to_the_containers_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, ran = make_job(instances__type="local"), []
    planned = plan(instances__type="local")
    monkeypatch.setattr(containers, "run", ran.append)
    assert platform.submit(job, planned, wait=False) == "completed"
    assert ran == [planned.request.to_json()]


def codes(**overrides: Any) -> list[str]:
    job = make_job(**overrides)
    planned = plan(launched=launch(), **overrides)
    advised = platform.check(job, planned, offline=True)
    return [finding.code for finding in advised if finding.path.startswith(("sagemaker.", "image"))]


def test_what_is_taken_and_will_not_do_is_told_without_asking_anybody() -> None:
    assert codes() == []
    sharded = {"sagemaker__s3_distribution": "ShardedByS3Key"}
    assert codes(**sharded) == ["s3-data-sharded"]
    assert codes(instances__count=1, **sharded) == []
    assert codes(data_source="efs", **sharded) == []
    encrypted = {"sagemaker__encrypt_traffic": True}
    assert codes(**encrypted) == ["traffic-encryption-with-efa"]
    assert codes(instances__type="g5.xlarge", **encrypted) == []


@pytest.mark.parametrize("image", [None, "123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:1"])
def test_smddp_is_no_reason_to_stop_a_launch(image: str | None) -> None:
    assert codes(sagemaker__distribution="smddp", image=image) == []
