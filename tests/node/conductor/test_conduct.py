"""A job from its place in the line to its end: real conductors and hosts, a small entry point."""

from __future__ import annotations

import json
import signal
import time

import pytest

from tests.node.conductor.bench import WORKERS, Bench

TWO = WORKERS[:2]


def wait_for_both(bench: Bench) -> None:
    """Wait until the first round runs on both hosts."""
    for address in TWO:
        bench.wait_for_output(f"round 1 of {address}")


def test_a_job_grows_the_group_trains_keeps_its_model_and_shrinks_the_group(bench: Bench) -> None:
    bench.ask("submit", bench.request(hyperparameters={"program": "step(7)"}))
    bench.conduct()
    bench.wait(lambda: bench.group()["desired"] == 2)
    assert bench.status()["state"] == "waiting"
    bench.set_nodes(*TWO)
    ended = bench.wait_for_end()
    assert ended["state"] == "completed"
    assert (ended["exit_code"], ended["step"], ended["restarts"]) == (0, 7, 0)
    assert [(host["address"], host["state"]) for host in ended["hosts"]] == [
        (address, "ended") for address in TWO
    ]
    assert bench.group()["desired"] == 0
    bucket = bench.folder / "aws" / "s3" / "bucket" / "output" / "one"
    assert (bucket / "model.pt").read_text() == "model"
    assert (bucket / "report.html").read_text() == "report"
    shipped = (bench.folder / "aws" / "log").read_text()
    assert "round 1 of 127.0.0.2 among 127.0.0.2,127.0.0.3" in shipped
    assert "completed: completed" in shipped
    started = ["systemctl", "--no-block", "start", "mask-rcnn-job@one.service"]
    assert bench.calls("systemctl") == [started]
    assert bench.told() == [("one", "started"), ("one", "completed")]
    logs = bench.ask("logs", {"name": "one", "offset": 0})
    assert logs["done"] and logs["next"] == len(bench.output().encode())


def test_workers_stay_where_the_job_keeps_them(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request(keep_workers=True))
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.group()["desired"] == 2


def test_a_failed_rank_is_tried_again_and_then_fails_the_job(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "fail('rank 1 on 127.0.0.3 ended with exit code 3') if is_head else sys.exit(1)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}))
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"], ended["restarts"]) == ("failed", 1, 1)
    assert ended["reason"] == "rank 1 on 127.0.0.3 ended with exit code 3 (after 2 attempts)"
    assert bench.group()["desired"] == 0
    assert not bench.calls("aws", "s3")


def test_a_host_that_fails_alone_fails_the_job_whatever_the_head_says(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "None if is_head else sys.exit(9)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, retries=0))
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["reason"]) == (
        "failed",
        "host 127.0.0.3 ended with exit code 9",
    )


def test_a_stop_saves_a_checkpoint_and_is_over_soon(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request(hyperparameters={"program": "step(3); wait(60)"}))
    bench.conduct()
    wait_for_both(bench)
    begin = time.monotonic()
    assert bench.ask("stop", {"name": "one"})["name"] == "one"
    ended = bench.wait_for_end()
    assert time.monotonic() - begin < 30
    assert (ended["state"], ended["exit_code"]) == ("checkpointed", 75)
    assert ended["reason"] == "stopped as asked, with a checkpoint at step 3"
    assert bench.ask("stop", {"name": "one"})["state"] == "checkpointed"


@pytest.mark.soak  # its short times bend where other work takes the cores
def test_a_killed_conductor_is_taken_up_and_what_it_left_is_ended_first(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(60)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}))
    killed = bench.conduct()
    wait_for_both(bench)
    # With all that its unit had, and nobody who could have told the ranks.
    killed.send_signal(signal.SIGSTOP)
    for process in bench.processes("host-run"):
        process.send_signal(signal.SIGKILL)
    killed.kill()
    killed.wait()
    assert len(bench.processes("entrypoint", "train")) == 2
    bench.conduct()
    ended = bench.wait_for_end()
    assert ended["state"] == "completed"
    assert (ended["restarts"], ended["step"]) == (1, 2)
    assert "ended what was left of one/1/127.0.0.2" in bench.output()
    assert not bench.processes("entrypoint", "train")


def test_hosts_save_and_leave_when_their_conductor_is_gone(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request(hyperparameters={"program": "wait(60)"}))
    killed = bench.conduct()
    wait_for_both(bench)
    killed.kill()
    bench.wait(lambda: not bench.processes("entrypoint", "train"))
    assert (bench.run / "checkpoints" / "step-00000001.pt").exists()


def test_a_lost_host_costs_no_attempt(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(2); fail('host 127.0.0.3 is gone')"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, retries=0))
    bench.conduct()
    wait_for_both(bench)
    bench.lose_host("127.0.0.3")
    bench.set_nodes("127.0.0.2", "127.0.0.4")
    ended = bench.wait_for_end()
    assert (ended["state"], ended["restarts"]) == ("completed", 1)
    assert "round 2 of 127.0.0.2 among 127.0.0.2,127.0.0.4" in bench.output()


def test_a_host_that_aws_takes_saves_and_costs_no_attempt(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(60)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, retries=0))
    bench.conduct()
    wait_for_both(bench)
    assert bench.ask("host-leave") == {"leaving": 2}
    ended = bench.wait_for_end()
    assert (ended["state"], ended["restarts"], ended["step"]) == ("completed", 1, 2)
    assert bench.output().count("saved") == 2


def test_a_head_that_shuts_down_saves_and_the_job_goes_on_later(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(60)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, retries=0))
    conductor = bench.conduct()
    wait_for_both(bench)
    conductor.terminate()
    assert conductor.wait(30) == 0
    waiting = bench.status()
    assert (waiting["state"], waiting["exit_code"]) == ("waiting", None)
    assert bench.output().count("saved") == 2
    assert bench.ask("resume") == {"resumed": ["one"]}
    # Nothing is told of a job that goes on.
    assert bench.told() == [("one", "started")]
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.told() == [("one", "started"), ("one", "completed")]


def test_what_a_conductor_did_not_come_to_tell_the_next_one_does(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request())
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    # As if the head had been lost between the two.
    told = bench.run / "conductor" / "told.json"
    document = json.loads(told.read_text())
    del document["completed"]
    told.write_text(json.dumps(document))
    assert bench.ask("resume") == {"resumed": ["one"]}
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.told() == [("one", "started"), ("one", "completed"), ("one", "completed")]
    assert bench.ask("resume") == {"resumed": []}


def test_nothing_is_told_of_jobs_that_ended_when_nobody_was_told(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.change_config(events=None)
    bench.ask("submit", bench.request())
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.calls("aws", "events") == []
    names = {"source": "mask-rcnn-test", "detail_type": "Training Job State Change"}
    bench.change_config(events=names)
    assert bench.ask("resume") == {"resumed": []}


def test_events_that_cannot_be_put_do_not_harm_the_job(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.set_group(refusals={"put-events": "AccessDeniedException"})
    bench.ask("submit", bench.request())
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.output().count("nobody may have been told that the job has") == 2
    assert bench.told() == []


def test_without_progress_it_is_stopped_with_a_reason(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    # Lines alone are no progress: Horovod warns of a hang every minute.
    program = "step(1)\nwhile True: say('waits'); wait(0.5)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, stall_s=2, retries=0))
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("failed", 1)
    assert ended["reason"] == "made no progress for 2 s, so it was stopped"


def test_a_stop_ends_the_copying_of_data_at_once(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.set_group(slow_s=60)
    data = {"s3": "s3://bucket/train", "path": str(bench.folder / "scratch")}
    bench.ask("submit", bench.request(data=data, stall_s=1))
    bench.conduct()
    bench.wait(lambda: len(bench.processes("note_call.py", "s3")) == 1)
    time.sleep(2)
    assert bench.status()["state"] == "running", "nobody trains yet"
    bench.ask("stop", {"name": "one"})
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("stopped", 143)
    assert ended["reason"] == "stopped as asked: stopped before it had started"
    bench.wait(lambda: not bench.processes("note_call.py", "s3"))


def test_a_stop_before_the_first_step_of_a_job_that_goes_on_leaves_its_checkpoint(
    bench: Bench,
) -> None:
    bench.set_nodes(*TWO)
    bench.set_group(slow_s=60)
    (bench.run / "checkpoints").mkdir(parents=True)
    (bench.run / "checkpoints" / "step-00000003.pt").touch()
    data = {"s3": "s3://bucket/train", "path": str(bench.folder / "scratch")}
    bench.ask("submit", bench.request(data=data, resume=True))
    bench.conduct()
    bench.wait(lambda: len(bench.processes("note_call.py", "s3")) == 1)
    bench.ask("stop", {"name": "one"})
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("checkpointed", 75)
    assert ended["reason"] == "stopped as asked: stopped before it had started"


@pytest.mark.soak  # its short times bend where other work takes the cores
def test_the_time_limit_counts_over_restarts(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(2.5); fail('once')\nwait(60)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}, max_run_s=12))
    bench.conduct()
    begin = time.monotonic()
    ended = bench.wait_for_end()
    assert time.monotonic() - begin < 45
    assert (ended["state"], ended["exit_code"], ended["restarts"]) == ("checkpointed", 75, 1)
    assert ended["reason"] == "stopped by its time limit, 12 s, with a checkpoint at step 2"


def test_workers_that_do_not_come_fail_the_job_with_the_groups_reason(bench: Bench) -> None:
    why = "We currently do not have sufficient p4d.24xlarge capacity in us-west-2a"
    bench.set_group(
        activities=[
            {
                "StatusCode": "Failed",
                "StatusMessage": why,
                "StartTime": "2999-01-01T00:00:00+00:00",
            },
            {
                "StatusCode": "Failed",
                "StatusMessage": "of last year",
                "StartTime": "1999-01-01T00:00:00+00:00",
            },
        ]
    )
    bench.set_nodes("127.0.0.2", left_out=(("127.0.0.3", "its set-up failed: no EFS"),))
    bench.ask("submit", bench.request(workers_wait_s=1))
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("failed", 1)
    assert ended["reason"] == (
        "1 of 2 workers came within 1 s, and the job needs 2; the group workers says: "
        f"{why}; i-00000000000000003 its set-up failed: no EFS"
    )
    assert bench.group()["desired"] == 0


def test_more_workers_than_the_group_may_have_fail_at_once(bench: Bench) -> None:
    bench.ask("submit", bench.request(workers=5, least_workers=5))
    bench.conduct()
    reason = bench.wait_for_end()["reason"]
    assert "5 workers are asked for, but it may have 4 at most" in reason
    assert "cluster_max_workers=5" in reason


def test_a_model_that_does_not_reach_s3_fails_the_job_and_stays_on_efs(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.set_group(refusals={"cp": "AccessDenied"})
    bench.ask("submit", bench.request())
    bench.conduct()
    ended = bench.wait_for_end()
    assert (ended["state"], ended["exit_code"]) == ("failed", 1)
    assert ended["reason"].startswith(f"trained, and the model is in {bench.run}, but not")
    assert "AccessDenied" in ended["reason"]
    assert (bench.run / "model.pt").read_text() == "model"


def test_a_model_of_other_files_goes_to_s3_as_they_are(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = (
        "if is_head: (log / 'model-9.data').write_text('9');"
        "(log / 'model-files.json').write_text(json.dumps({'files': ['model-9.data', '../x']}))"
    )
    bench.ask("submit", bench.request(hyperparameters={"program": program}))
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    bucket = bench.folder / "aws" / "s3" / "bucket" / "output" / "one"
    assert sorted(path.name for path in bucket.iterdir()) == ["model-9.data", "report.html"]


def test_a_log_that_cannot_be_shipped_does_not_harm_the_job(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.set_group(refusals={"put-log-events": "AccessDeniedException"})
    bench.ask("submit", bench.request())
    bench.conduct()
    assert bench.wait_for_end()["state"] == "completed"
    assert bench.output().count("the log does not reach CloudWatch") == 1


def test_two_conductors_never_have_one_job(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request(hyperparameters={"program": "wait(3)"}))
    first = bench.conduct()
    wait_for_both(bench)
    assert bench.conduct().wait(10) == 0
    assert first.poll() is None
    first.wait(60)
    assert bench.output().count("is over") == 1


@pytest.mark.soak  # its short times bend where other work takes the cores
def test_a_new_head_takes_the_job_up_and_the_old_one_lets_go(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    program = "step(round_)\nif round_ == 1: wait(60)"
    bench.ask("submit", bench.request(hyperparameters={"program": program}))
    old = bench.conduct()
    wait_for_both(bench)
    # Another head has taken the lease, for example while this one was cut off from EFS.
    lease = bench.run / "conductor" / "lease.json"
    holder = {"instance_id": "i-0000000000000000f", "boot_id": "other", "pid": 1, "count": 1}
    lease.write_text(json.dumps(holder))
    assert old.wait(30) == 0
    assert "i-0000000000000000f conducts job one now" in bench.output()
    assert bench.status()["state"] == "running"
    bench.wait(lambda: not bench.processes("entrypoint", "train"))


@pytest.mark.slow
def test_a_job_in_line_runs_on_the_nodes_of_the_one_before(bench: Bench) -> None:
    bench.set_nodes(*TWO)
    bench.ask("submit", bench.request(hyperparameters={"program": "wait(2)"}))
    second = bench.request(
        name="two", log=str(bench.run.with_name("log-two")), queue=True, fingerprint="1" * 64
    )
    assert bench.ask("submit", second)["state"] == "queued"
    first = bench.conduct("one")
    wait_for_both(bench)
    bench.conduct("two")
    bench.wait(lambda: bench.status("two")["reason"] == "waits for job one")
    assert first.wait(60) == 0
    assert bench.started[-1].wait(60) == 0
    assert bench.status("two")["state"] == "completed"
    sizes = [call[6] for call in bench.calls("aws", "autoscaling", "set-desired-capacity")]
    assert sizes == ["2", "0"], "not down and up again in between"
