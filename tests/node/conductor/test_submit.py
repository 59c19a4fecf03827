"""Submitting, the line, stopping and resuming, as the launcher has them run."""

from __future__ import annotations

import json

import pytest

from tests.node.conductor.bench import Bench


def set_state(bench: Bench, state: str) -> None:
    path = bench.run / "conductor" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": state}))


def test_a_submitted_job_is_in_line_and_its_request_is_for_root_alone(bench: Bench) -> None:
    answer = bench.ask("submit", bench.request())
    assert (answer["name"], answer["state"], answer["run"]) == ("one", "queued", str(bench.run))
    assert set(answer) == {
        *("name", "state", "reason", "exit_code", "created", "started", "updated", "hosts"),
        *("restarts", "step", "run", "algorithm"),
    }
    request = bench.run / "conductor" / "request.json"
    assert json.loads(request.read_text()) == bench.request()
    assert request.stat().st_mode & 0o777 == 0o600
    assert bench.ask("list")["jobs"][0]["name"] == "one"


def test_a_second_job_is_refused_with_the_name_of_the_first(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    other = bench.request(name="two", log=str(bench.efs / "log-two"), fingerprint="1" * 64)
    error = bench.ask("submit", other)["error"]
    assert error["kind"] == "busy"
    assert "job one is queued on cluster test" in error["message"]
    assert not (bench.efs / "log-two").exists()
    assert bench.ask("submit", {**other, "queue": True})["state"] == "queued"
    assert [job["name"] for job in bench.ask("list")["jobs"]] == ["two", "one"]
    assert [job["name"] for job in bench.ask("list", {"limit": 1})["jobs"]] == ["two"]


def test_a_request_that_comes_twice_starts_one_job(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    set_state(bench, "running")
    assert bench.ask("submit", bench.request())["state"] == "running"
    assert len(bench.calls("systemctl")) == 1


def test_a_name_that_is_taken_is_refused(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    set_state(bench, "completed")
    error = bench.ask("submit", bench.request(fingerprint="1" * 64))["error"]
    assert (error["kind"], "--resume" in error["message"]) == ("usage", True)


def test_a_job_that_has_ended_is_resumed_in_its_folder(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    again = bench.request(fingerprint="1" * 64, resume=True, max_run_s=7)
    assert bench.ask("submit", again)["error"]["kind"] == "busy"
    set_state(bench, "checkpointed")
    (bench.run / "conductor" / "stop.json").write_text("{}")
    elsewhere = {**again, "log": str(bench.efs / "log-other")}
    assert bench.ask("submit", elsewhere)["error"]["kind"] == "usage"
    assert bench.ask("submit", again)["state"] == "queued"
    assert json.loads((bench.run / "conductor" / "request.json").read_text())["max_run_s"] == 7
    assert not (bench.run / "conductor" / "stop.json").exists()


def test_resuming_what_is_not_there_is_refused(bench: Bench) -> None:
    error = bench.ask("submit", bench.request(resume=True))["error"]
    assert error["kind"] == "not-found"
    bench.run.mkdir(parents=True)
    assert bench.ask("submit", bench.request(resume=True))["state"] == "queued"


def test_a_folder_that_holds_something_is_nobodys_new_run(bench: Bench) -> None:
    bench.run.mkdir(parents=True)
    (bench.run / "metrics.jsonl").touch()
    error = bench.ask("submit", bench.request())["error"]
    assert (error["kind"], str(bench.run) in error["message"]) == ("usage", True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"log": "/tmp/log-one"}, "log: /tmp/log-one; expected"),
        ({"image": "registry/mask-rcnn:1"}, "virtual environment"),
        ({"workers": 0}, "workers: 0; expected a whole number from 1"),
    ],
)
def test_what_the_cluster_cannot_run_is_refused(
    bench: Bench, changes: dict[str, object], said: str
) -> None:
    error = bench.ask("submit", bench.request(**changes))["error"]
    assert error["kind"] == "usage"
    assert said in error["message"]
    assert bench.ask("list") == {"jobs": []}


def test_what_is_no_request_is_refused(bench: Bench) -> None:
    for action in ("status", "logs", "stop"):
        assert bench.ask(action, {"name": "none"})["error"]["kind"] == "not-found"
        assert bench.ask(action, {"name": "../x"})["error"]["kind"] == "usage"


def test_data_that_is_not_on_the_file_system_is_missed_before_workers_come(bench: Bench) -> None:
    path = str(bench.efs / "no-data")
    error = bench.ask("submit", bench.request(data={"path": path}))["error"]
    assert error["kind"] == "usage"
    assert error["message"] == f"the job's data: {path} is no folder: has it been staged there?"
    assert not bench.run.exists()
    # What comes from S3 is copied there later.
    data = {"s3": "s3://bucket/train", "path": path}
    assert bench.ask("submit", bench.request(data=data))["state"] == "queued"


def test_nothing_is_looked_for_below_a_mount_point_without_its_mount(bench: Bench) -> None:
    (bench.efs / "mask-rcnn" / "clusters" / "test" / "nodes").rmdir()
    for action, document in (("submit", bench.request()), ("status", {"name": "one"})):
        error = bench.ask(action, document)["error"]
        assert error["kind"] == "not-ready"  # the caller waits for the head's set-up
        assert f"{bench.efs} is not mounted yet" in error["message"]
    assert not bench.run.exists()


def test_a_unit_that_does_not_start_leaves_no_job(bench: Bench) -> None:
    (bench.folder / "no-systemctl").mkdir()
    program = bench.folder / "no-systemctl" / "systemctl"
    program.write_text("#!/bin/sh\necho 'Unit not found' >&2\nexit 5\n")
    program.chmod(0o755)
    bench.variables["PATH"] = f"{program.parent}:{bench.environment['PATH']}"
    error = bench.ask("submit", bench.request())["error"]
    assert error["kind"] == "failed"
    assert "mask-rcnn-job@one.service: cannot be started: Unit not found" in error["message"]
    assert bench.ask("list") == {"jobs": []}


def test_a_queued_job_can_be_stopped(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    asked = bench.ask("stop", {"name": "one"})
    assert (asked["state"], asked["reason"]) == ("stopping", "asked to stop")
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("stopped", 143)
    assert ended["reason"] == "stopped as asked, before it had a checkpoint"
    assert not bench.calls("aws", "autoscaling", "set-desired-capacity")
    assert bench.ask("stop", {"name": "one"})["state"] == "stopped"


def test_a_new_head_starts_what_is_not_finished(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    done = bench.request(
        name="done", log=str(bench.efs / "log-done"), queue=True, fingerprint="1" * 64
    )
    bench.ask("submit", done)
    path = bench.efs / "log-done" / "conductor" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": "failed"}))
    (bench.folder / "calls").unlink()
    assert bench.ask("resume") == {"resumed": ["one"]}
    assert [call[3] for call in bench.calls("systemctl")] == ["mask-rcnn-job@one.service"]


def test_half_written_files_confuse_nobody(bench: Bench) -> None:
    bench.ask("submit", bench.request())
    index = bench.efs / "mask-rcnn" / "clusters" / "test" / "jobs"
    (index / "half.json").write_text('{"run": "/efs/')
    (index / ".one.123").write_text("")
    state = bench.run / "conductor" / "state.json"
    whole = state.read_text()
    state.write_text(whole[: len(whole) // 2])
    assert bench.ask("list") == {"jobs": []}
    # The head died while it made the job: the same request makes it whole.
    assert bench.ask("submit", bench.request())["state"] == "queued"
    assert [job["name"] for job in bench.ask("list")["jobs"]] == ["one"]
