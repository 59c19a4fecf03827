"""How a job does is told once, twice at most, and never in the job's way."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.validate import validate_parameters

from node import config
from node.conductor import job_event
from node.conductor.places import RunFolder
from node.conductor.state import State, write_state
from node.conductor.telling import NobodyIsTold, Telling, teller_of
from tests.node.aws_fake import AwsFake, install
from tests.node.setup.host import CONFIG
from tests.waiting import wait_for

NAMES = {"source": "distributed-mask-rcnn", "detail_type": "Training Job State Change"}
TAKEN = {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}
REFUSED = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "Busy", "ErrorMessage": "later"}]}
DENIED = ["AccessDeniedException", "not authorized to perform: events:PutEvents"]


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AwsFake:
    fake = install(tmp_path / "aws", monkeypatch)
    fake.answers(put_events=[TAKEN])
    return fake


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "log-one")
    folder.conductor.mkdir(parents=True)
    folder.request.write_text(json.dumps({"environment": {"WANDB_API_KEY": "abc123xyz"}}))
    return folder


class Cluster:
    """A head that tells, and what it said of that."""

    def __init__(self, folder: Path, run: RunFolder) -> None:
        file = folder / "node.json"
        file.write_text(json.dumps({**CONFIG, "events": NAMES}))
        self.config = config.load(file)
        self.run = run
        self.said: list[str] = []

    def tell(self, *states: State) -> None:
        """Do what one conductor does."""
        telling = self.conductor()
        for state in states:
            write_state(self.run, state)
            telling.notice(state)
        telling.finish()

    def conductor(self) -> Telling:
        assert self.config.events is not None
        return Telling(
            self.config,
            self.config.events,
            run=self.run,
            created="2026-07-14T12:00:00Z",
            say=self.said.append,
            pauses_s=(0, 0, 0),
        )


@pytest.fixture
def cluster(tmp_path: Path, run: RunFolder) -> Cluster:
    return Cluster(tmp_path, run)


def state(name: str, reason: str | None = None) -> State:
    return State(
        name="one",
        algorithm="horovod",
        run="/efs/output/log-one",
        created="2026-07-14T12:00:00Z",
        state=name,
        reason=reason,
    )


def entries(aws: AwsFake) -> list[dict[str, Any]]:
    """Return what was sent, an entry a request."""
    found = []
    for files in aws.files:
        [text] = files.values()
        [entry] = json.loads(text)
        found.append(entry)
    return found


def details(aws: AwsFake) -> list[dict[str, Any]]:
    return [json.loads(entry["Detail"]) for entry in entries(aws)]


def test_a_job_is_told_when_it_starts_and_when_it_ends(aws: AwsFake, cluster: Cluster) -> None:
    cluster.tell(
        state("waiting", "looks for its nodes"),
        state("running"),
        state("running", "again"),
        state("stopping", "is asked to stop"),
        state("checkpointed", "stopped as asked, with a checkpoint at step 3"),
    )
    of_all = {
        "job": "one",
        "platform": "ec2",
        "cluster": "vision",
        "algorithm": "horovod",
    }
    assert details(aws) == [
        {**of_all, "status": "started", "state": "running"},
        {
            **of_all,
            "status": "stopped",
            "state": "checkpointed",
            "reason": "stopped as asked, with a checkpoint at step 3",
        },
    ]
    assert cluster.said == []


@pytest.mark.parametrize(
    ("name", "status"),
    [("completed", "completed"), ("failed", "failed"), ("stopped", "stopped")],
)
def test_each_end_has_its_word_and_its_reason_if_it_says_more(
    name: str, status: str, aws: AwsFake, cluster: Cluster
) -> None:
    cluster.tell(state(name, 'the key "abc123xyz" was refused'))
    [detail] = details(aws)
    assert (detail["status"], detail["state"]) == (status, name)
    said = None if name == "completed" else "the key '***' was refused"
    assert detail.get("reason") == said


def test_a_request_is_what_the_api_takes_for_the_default_bus(
    aws: AwsFake, cluster: Cluster
) -> None:
    written = state("failed", "exit code 1")
    cluster.tell(written)
    operation = (
        botocore.session.get_session().get_service_model("events").operation_model("PutEvents")
    )
    [entry] = entries(aws)
    assert operation.input_shape is not None
    validate_parameters({"Entries": [entry]}, operation.input_shape)
    assert {name: value for name, value in entry.items() if name != "Detail"} == {
        "Source": "distributed-mask-rcnn",
        "DetailType": "Training Job State Change",
        "Time": written.updated,
    }
    [call] = aws.calls
    assert call[:3] == ["events", "put-events", "--entries"]
    assert call[call.index("--region") + 1] == "eu-central-1"


def test_what_was_told_is_not_told_again_by_the_next_conductor(
    aws: AwsFake, cluster: Cluster
) -> None:
    cluster.tell(state("running"))
    cluster.tell(state("running"), state("completed"))
    cluster.tell(state("completed"))
    assert [detail["status"] for detail in details(aws)] == ["started", "completed"]


def test_a_job_that_is_submitted_again_is_told_anew(aws: AwsFake, cluster: Cluster) -> None:
    cluster.tell(state("stopped", "as asked"))
    document = json.loads(cluster.run.told.read_text())
    cluster.run.told.write_text(json.dumps({**document, "created": "2026-07-13T00:00:00Z"}))
    cluster.tell(state("stopped", "as asked"))
    assert len(details(aws)) == 2


@pytest.mark.parametrize("refusal", [DENIED, REFUSED], ids=["whole", "entry"])
def test_what_aws_refuses_is_tried_again_and_then_told(
    refusal: Any, aws: AwsFake, cluster: Cluster
) -> None:
    aws.answers(put_events=[refusal, refusal, TAKEN])
    cluster.tell(state("completed"))
    assert len(aws.calls) == 3
    assert cluster.said == []


def test_what_aws_keeps_refusing_is_given_up_and_said_once(aws: AwsFake, cluster: Cluster) -> None:
    aws.answers(put_events=[DENIED])
    cluster.tell(state("running"))
    assert len(aws.calls) == 3
    [said] = cluster.said
    assert said.startswith("nobody may have been told that the job has started: aws events put-")
    assert "events:PutEvents" in said


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(job_event, "TIMEOUT_S", 0.5)
    yield


@pytest.mark.usefixtures("_impatient")
def test_requests_without_an_answer_may_have_arrived_and_are_two_at_most(
    aws: AwsFake, cluster: Cluster
) -> None:
    aws.answers(put_events=["hang"])
    cluster.tell(state("failed", "why"))
    cluster.tell(state("failed", "why"))
    assert len(aws.calls) == 2
    assert "no answer within 0.5 s" in cluster.said[0]
    assert len(cluster.said) == 1


@pytest.mark.usefixtures("_impatient")
def test_no_answer_ever_holds_up_who_tells(aws: AwsFake, cluster: Cluster) -> None:
    aws.answers(put_events=["hang"])
    telling = cluster.conductor()
    telling.notice(state("running"))
    telling.notice(state("failed", "why"))
    assert cluster.said == [], "it has given up, so it was waited for"
    telling.finish()
    assert len(cluster.said) == 2


def test_a_conductor_that_is_killed_while_it_tells_makes_it_two_at_most(
    aws: AwsFake, cluster: Cluster
) -> None:
    """Killed again and again, between a request and the note that it was answered."""
    aws.answers(put_events=["hang"])
    for life in range(4):
        pid = os.fork()
        if pid == 0:
            os.setsid()
            cluster.tell(state("completed"))
            os._exit(0)
        if life < 2:
            wanted = life + 1
            wait_for(lambda wanted=wanted: len(aws.calls) == wanted, "a request")  # type: ignore[misc]
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert len(aws.calls) == 2


def test_a_folder_that_is_full_is_said_and_harms_nobody(aws: AwsFake, cluster: Cluster) -> None:
    cluster.run.told.mkdir()
    (cluster.run.told / "x").touch()
    telling = cluster.conductor()
    telling.notice(state("completed"))
    telling.finish()
    assert aws.calls == []
    assert cluster.said[0].startswith("nobody is told that the job is completed: ")


def test_a_mistake_of_ours_harms_nobody_either(aws: AwsFake, cluster: Cluster) -> None:
    cluster.tell(state("failed", reason=["no", "text"]), state("completed"))  # type: ignore[arg-type]
    assert [detail["status"] for detail in details(aws)] == ["completed"]
    assert "AttributeError" in cluster.said[0]


def test_without_notifications_nobody_is_told_and_nothing_written(
    aws: AwsFake, tmp_path: Path, run: RunFolder
) -> None:
    file = tmp_path / "node.json"
    file.write_text(json.dumps(CONFIG))
    teller = teller_of(config.load(file), run=run, created="", say=print)
    assert isinstance(teller, NobodyIsTold)
    teller.notice(state("completed"))
    teller.finish()
    assert aws.calls == []
    assert not run.told.exists()
