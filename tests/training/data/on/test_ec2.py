from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from node.conductor.staging_request import parse_staging
from tests.training.data.on.samples import errand, outputs
from tests.training.platforms.ec2.fake_head import FakeHead, status
from training.data.on import ec2
from training.data.places import Place
from training.errors import AwsError, Interrupted, PreflightError, UsageError


def test_the_head_reads_what_is_sent() -> None:
    trip = ec2.plan(errand(to=Place.FSX, from_place=Place.EFS), outputs())
    document = trip.request["runs"]
    read = parse_staging(json.loads(json.dumps(document)))
    assert read.arguments[:2] == ["data", "stage"]
    assert read.log == "/efs/mask-rcnn/clusters/mask-rcnn/staging/stage-one"
    assert json.loads(read.hyperparameters["mounts"]) == {
        "fs-0123456789abcdef0": "/efs",
        "fs-0123456789abcdef9": "/fsx",
    }
    assert trip.request["SendCommand"]["Parameters"]["Action"] == ["submit"]


def test_the_same_copy_under_the_same_name_has_the_same_fingerprint() -> None:
    def fingerprint(**changes: Any) -> str:
        found: str = ec2.plan(errand(**changes), outputs()).request["runs"]["fingerprint"]
        return found

    assert fingerprint() == fingerprint()
    assert fingerprint() != fingerprint(jobs=9)


def test_a_cluster_without_images_runs_it_in_its_environment() -> None:
    trip = ec2.plan(errand(), outputs(RunsIn="environment"))
    assert trip.request["runs"]["image"] is None


def test_a_cluster_that_does_not_mount_fsx_is_refused() -> None:
    with pytest.raises(UsageError, match="do not mount FSx for Lustre"):
        ec2.plan(errand(to=Place.FSX), outputs(FsxMount=None))


def sent(head: FakeHead, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("training.platforms.ec2.head.head_of", lambda *_, **__: head)
    lines: list[str] = []
    ec2.send(ec2.plan(errand(), outputs()), outputs(), lines.append)
    return lines


def test_it_is_submitted_once_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    queued, ended = status("queued", "stage-one"), status("completed", "stage-one")
    head = FakeHead({"submit": [queued], "status": [ended]}, text=b"one\ntwo\n")
    assert sent(head, monkeypatch) == ["one", "two"]
    asked = [request for action, request in head.asked if action == "submit"]
    assert asked == [ec2.plan(errand(), outputs()).request["runs"]]


@pytest.mark.parametrize(
    ("end", "error", "words"),
    [
        (status("failed", reason="no room", exit_code=3), PreflightError, "no room"),
        (status("stopped", reason="as asked", exit_code=143), Interrupted, "goes on from there"),
    ],
)
def test_the_end_is_that_of_the_command_there(
    end: dict[str, Any], error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = FakeHead({"submit": [status("queued")], "status": [end]})
    with pytest.raises(error, match=words):
        sent(head, monkeypatch)


def test_its_time_limit_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    end = status("stopped", reason="its time limit, 60 s", exit_code=143)
    head = FakeHead({"submit": [status("queued")], "status": [end]})
    with pytest.raises(Interrupted, match=r"stopped \(its time limit, 60 s\)"):
        sent(head, monkeypatch)


def test_a_head_that_is_gone_at_the_end_hides_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    end = status("stopped", reason="as asked", exit_code=143)
    head = FakeHead({"submit": [status("queued")], "status": [end, AwsError("throttled")]})
    with pytest.raises(Interrupted, match="as asked, or by its time limit"):
        sent(head, monkeypatch)


def test_an_old_copy_is_not_told_as_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    old = status("completed", "stage-one")
    head = FakeHead({"submit": [old], "status": [old]})
    words = "--name stage-one: that run, of 2026-01-02 03:04 UTC, has completed; nothing was done"
    with pytest.raises(UsageError, match=words):
        sent(head, monkeypatch)
    assert head.actions() == ["submit"]


def test_ctrl_c_says_how_to_watch_and_to_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    head = FakeHead({"submit": [status("queued")], "status": [KeyboardInterrupt()]})
    with pytest.raises(Interrupted, match="jobs logs -f stage-one --platform ec2") as caught:
        sent(head, monkeypatch)
    assert "jobs stop stage-one" in str(caught.value)


def test_without_an_instance_type_of_its_own_nothing_changes() -> None:
    assert ec2.plan(replace(errand(), instance_type=None), outputs()).name == "stage-one"
