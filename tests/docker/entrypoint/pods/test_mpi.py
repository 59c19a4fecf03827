"""Pods with real sshd and mpirun, as user 1000; the ranks are small programs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tests.docker.entrypoint.cluster import wait_until
from tests.docker.entrypoint.pods.conftest import MakePods
from tests.docker.entrypoint.pods.pods import LAUNCHER, TIMING, PodProcess, Pods
from tests.docker.entrypoint.ranks import adapter, waiting_adapter

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]

QUIET = json.dumps({**TIMING, "note_s": 30})


def ranks(pods: Pods) -> int:
    """Return how many ranks have said that they run, over all attempts."""
    return sum(path.read_text().count("runs on") for path in pods.log.glob("rank-*.log"))


def private_files(pod: PodProcess) -> list[tuple[str, str]]:
    """Return the files of the entry point's own folder, and their modes."""
    [folder] = Path(f"/proc/{pod.main.pid}/root/tmp").glob("mask-rcnn-*")
    return sorted(
        (path.name, stat.filemode(path.stat().st_mode))
        for path in folder.iterdir()
        if path.name.startswith("job_key")
    )


def test_a_late_worker_is_named_and_waited_for_and_all_ranks_run_without_root(
    make_pods: MakePods,
) -> None:
    program = """
print(os.getuid(), os.environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))
print(os.environ.get("K_MPI_JOB_ROLE"), os.environ["HOSTS"], os.environ["NCCL_SOCKET_IFNAME"])
"""
    pods = make_pods(2, slots=2)
    launcher = pods.start(LAUNCHER, adapter(program), {"a": "b"})
    first = pods.start("trial-worker-0", adapter(program))
    wait_until(lambda: "trial-worker-0 is ready" in launcher.stderr)
    unknown = "the name trial-worker-1.trial.kubeflow.svc does not resolve"
    wait_until(lambda: f"waiting for trial-worker-1 ({unknown}" in launcher.stderr)
    assert private_files(first) == [("job_key", "-rw-------"), ("job_key.pub", "-rw-r--r--")]
    second = pods.start("trial-worker-1", adapter(program))
    assert [pod.wait() for pod in (launcher, first, second)] == [0, 0, 0]
    assert [pod.failure for pod in pods.pods] == [None, None, None]
    for rank in range(4):
        assert (pods.log / f"rank-{rank}.log").read_text().splitlines() == [
            f"rank {rank} runs on trial-worker-{rank // 2}",
            "1000 None",
            "None trial-worker-0,trial-worker-1 eth0",
        ]
    shown = launcher.stdout.splitlines()
    assert "rank 0 runs on trial-worker-0" in shown
    assert "[rank 3] rank 3 runs on trial-worker-1" in shown
    assert first.stdout == ""
    job = json.loads((pods.log / "job.json").read_text())
    assert (job["platform"], job["job_name"], job["world_size"]) == ("eks", "trial", 4)
    assert job["request"]["hosts"] == ["trial-worker-0", "trial-worker-1"]
    assert json.loads((pods.log / "hyperparameters.json").read_text()) == {"a": "b"}
    # What the results are stays in the log folder.
    assert json.loads((pods.log / "model-files.json").read_text()) == {"files": ["model.bin"]}
    assert {path.stat().st_uid for path in pods.log.iterdir()} == {1000}


def test_a_worker_with_another_key_is_none_and_the_next_try_finds_the_right_one(
    make_pods: MakePods,
) -> None:
    pods = make_pods(2)
    pods.make_key("other")
    program = adapter("")
    first = pods.start("trial-worker-0", program)
    stranger = pods.start("trial-worker-1", program, key="other")
    begin = time.monotonic()
    launcher = pods.start(LAUNCHER, program, MASK_RCNN_WORKERS_WAIT_S="5")
    assert launcher.wait(60) == 1
    assert time.monotonic() - begin < 40
    reason = "not all workers came in 5 s: trial-worker-1 (Host key verification failed.)"
    assert launcher.failure == reason
    assert launcher.stderr.endswith(f"entrypoint: exit code 1: {reason}\n")
    assert "runs on" not in launcher.stdout
    # Nor does a launcher with another key get in where the host's key is not its concern: the
    # worker's server is closed with the try that failed, and comes again for the next.
    wait_until(lambda: "Permission denied (publickey)" in log_in(pods, stranger, first).stderr)
    assert first.process.poll() is None
    pods.lose(stranger)
    second = pods.start("trial-worker-1", program)
    again = pods.start(LAUNCHER, program)
    assert [pod.wait() for pod in (again, first, second)] == [0, 0, 0]


def log_in(pods: Pods, source: PodProcess, target: PodProcess) -> subprocess.CompletedProcess[str]:
    """Log in with the key of one pod at another, whatever host key that has."""
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"]
    words = [
        *("ssh", "-F", "/dev/null", "-p", "2222", "-i", str(pods.folder / "other")),
        *(word for option in options for word in ("-o", option)),
        *(f"mask-rcnn@{target.address}", "id"),
    ]
    net = f"--net=/proc/{source.main.pid}/ns/net"
    return subprocess.run(["nsenter", net, *words], check=False, capture_output=True, text=True)


def test_a_lost_worker_costs_no_try_but_a_container_that_died_does(make_pods: MakePods) -> None:
    pods = make_pods(2)
    program = waiting_adapter()
    [first, second] = [pods.start(name, program) for name in pods.worker_names]
    launcher = pods.start(LAUNCHER, program, MASK_RCNN_TIMING=QUIET)
    wait_until(lambda: ranks(pods) == 2)
    pods.lose(second)
    wait_until(lambda: "trial-worker-1 went away: waits for another" in launcher.stderr)
    assert "host trial-worker-1 is gone: its connection closed" in launcher.stderr
    # mpirun ends ranks with SIGTERM, which these take for a wish to stop.
    (pods.log / "stop").unlink(missing_ok=True)
    second = pods.start("trial-worker-1", program)
    wait_until(lambda: ranks(pods) == 4)
    assert launcher.process.poll() is None
    second.vanish()
    second.wait()
    wait_until(lambda: launcher.stderr.count("waits for another") == 2)
    (pods.log / "stop").unlink(missing_ok=True)
    pods.start("trial-worker-1", program, again=second)
    assert launcher.wait(60) == 1
    assert str(launcher.failure).startswith(
        "host trial-worker-1: it was lost, and is back in the same pod: its container ended"
    )
    assert ranks(pods) == 4
    # The other waits for the next try.
    assert first.process.poll() is None


def test_a_drained_worker_lets_all_save_and_sigterm_to_the_launcher_ends_the_job(
    make_pods: MakePods,
) -> None:
    pods = make_pods(2)
    program = waiting_adapter()
    workers = [pods.start(name, program) for name in pods.worker_names]
    launcher = pods.start(LAUNCHER, program, MASK_RCNN_TIMING=QUIET)
    wait_until(lambda: ranks(pods) == 2)
    workers[1].terminate()
    assert workers[1].wait(60) == 0
    wait_until(lambda: "waits for another" in launcher.stderr)
    assert "stopped by SIGTERM to trial-worker-1, with a checkpoint" in launcher.stderr
    pods.forget("trial-worker-1")
    (pods.log / "stop").unlink()
    workers[1] = pods.start("trial-worker-1", program)
    wait_until(lambda: ranks(pods) == 4)
    launcher.terminate()
    assert launcher.wait(60) == 75
    assert launcher.failure is None
    assert (
        "exit code 75: stopped by SIGTERM to trial-launcher, with a checkpoint" in launcher.stderr
    )
    assert [(pods.log / f"rank-{rank}.log").read_text().count("saves") for rank in (0, 1)] == [2, 2]
    # As at the end of a job: the operator deletes the workers.
    for worker in workers:
        assert worker.process.poll() is None
        worker.terminate()
    assert [worker.wait(60) for worker in workers] == [0, 0]


def test_workers_end_their_ranks_when_the_launcher_is_lost_and_leave_when_none_comes(
    make_pods: MakePods,
) -> None:
    pods = make_pods(1)
    program = waiting_adapter()
    worker = pods.start("trial-worker-0", program, MASK_RCNN_WORKERS_WAIT_S="4")
    launcher = pods.start(LAUNCHER, program)
    wait_until(lambda: ranks(pods) == 1)
    pods.cut_off(launcher)
    wait_until(lambda: "the head trial-launcher is gone" in worker.stderr)
    wait_until(lambda: not worker.find("OMPI_COMM_WORLD_RANK"))
    assert worker.wait(60) == 0
    assert worker.stderr.endswith("entrypoint: leaves: no launcher came in 4 s\n")


def test_a_worker_that_cannot_take_part_tells_the_launcher_why(make_pods: MakePods) -> None:
    pods = make_pods(1)
    worker = pods.start("trial-worker-0", adapter(""), MASK_RCNN_DATA="/efs/nothing")
    launcher = pods.start(LAUNCHER, adapter(""), MASK_RCNN_DATA="/efs/nothing")
    assert [launcher.wait(60), worker.wait(60)] == [1, 1]
    assert str(worker.failure).startswith("MASK_RCNN_DATA: /efs/nothing: is no folder")
    assert str(launcher.failure).startswith(
        "host trial-worker-0: MASK_RCNN_DATA: /efs/nothing: is no folder"
    )
