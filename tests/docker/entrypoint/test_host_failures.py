"""Whatever breaks, every host that is left ends with 1 and the same reason."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.docker.entrypoint.cluster import QUICK
from tests.docker.entrypoint.conftest import MakeCluster
from tests.docker.entrypoint.following import TWO_EACH, codes, failures, wait_for_ranks
from tests.docker.entrypoint.ranks import adapter, waiting_adapter

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]


def test_a_killed_rank_fails_the_job_on_all_hosts_with_its_name(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, waiting_adapter())
    hosts = cluster.start_all({}, **TWO_EACH)
    wait_for_ranks(cluster, 4)
    begin = time.monotonic()
    hosts[1].find("OMPI_COMM_WORLD_RANK")[0].kill()
    assert codes(hosts) == [1, 1]
    assert time.monotonic() - begin < 25  # which is before the grace of the others would be over
    first = failures(hosts)[0]
    rank = 2 if "rank 2" in first else 3
    assert first.startswith(f"rank {rank} on algo-2 was killed by SIGKILL")
    assert first.endswith(f"Last lines of rank {rank}:\nrank {rank} runs on algo-2")
    assert failures(hosts)[1] == first


def test_a_rank_that_fails_is_told_from_those_that_fail_of_it(make_cluster: MakeCluster) -> None:
    program = """
if rank == 1:
    print("CUDA out of memory")
    sys.exit(3)
time.sleep(0.7)
sys.exit(1)
"""
    cluster = make_cluster(2, adapter(program))
    hosts = cluster.start_all({})
    assert codes(hosts) == [1, 1]
    assert failures(hosts)[0] == (
        "rank 1 on algo-2 ended with exit code 3\nLast lines of rank 1:\n"
        "rank 1 runs on algo-2\nCUDA out of memory"
    )
    outcome = json.loads((cluster.log / "outcome.json").read_text())
    assert outcome == {"status": "failed", "message": "rank 1 on algo-2 ended with exit code 3"}


@pytest.mark.parametrize(
    ("host", "words", "reason"),
    [
        (0, ("bin/mpirun", "-np"), "mpirun on algo-1 was killed by SIGKILL"),
        (1, ("sshd", "-D"), "host algo-2: its SSH server was killed by SIGKILL"),
        (1, ("bin/orted", "--daemonize"), "orted on algo-2 was killed by SIGKILL"),
        (1, ("entrypoint", "rank"), "rank 1 on algo-2 is gone: what started it was killed"),
    ],
)
def test_a_killed_part_of_the_launch_fails_the_job_with_its_name(
    make_cluster: MakeCluster, host: int, words: tuple[str, ...], reason: str
) -> None:
    cluster = make_cluster(2, waiting_adapter())
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 2)
    [process] = hosts[host].find(*words)
    process.kill()
    assert codes(hosts, 20) == [1, 1]
    assert failures(hosts)[0].startswith(reason)
    assert failures(hosts)[1] == failures(hosts)[0]


def test_a_worker_that_breaks_fails_the_job_with_its_name(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(3, waiting_adapter())
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 3)
    hosts[1].vanish()
    assert codes([hosts[0], hosts[2]], 20) == [1, 1]
    reason = "host algo-2 is gone: its connection "
    assert [text.startswith(reason) for text in failures([hosts[0], hosts[2]])] == [True, True]


def test_a_worker_that_is_cut_off_is_missed_within_the_time_of_silence(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, waiting_adapter())
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 2)
    begin = time.monotonic()
    cluster.pull_plug("algo-2")
    assert codes(hosts, 20) == [1, 1]
    assert time.monotonic() - begin < QUICK["silence_s"] + 12
    silence = "there was no sign of life from it for 2.5 s"
    assert failures(hosts)[0].startswith(f"host algo-2 is gone: {silence}")
    assert failures(hosts)[1] == f"the head algo-1 is gone: {silence}"


def test_a_worker_leaves_when_the_head_breaks(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, waiting_adapter())
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 2)
    hosts[0].vanish()
    assert hosts[1].wait(20) == 1
    assert failures(hosts[1:])[0].startswith("the head algo-1 is gone: its connection ")


def test_a_log_folder_that_is_full_fails_the_job_with_the_file(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(1, waiting_adapter())
    cluster.log.mkdir()
    # Linux's device that is always full.
    (cluster.log / "rank-0.log").symlink_to("/dev/full")
    [host] = cluster.start_all({})
    assert host.wait(30) == 1
    reason = f"host algo-1: {cluster.log}/rank-0.log: cannot be written (No space left on device)"
    assert failures([host])[0].startswith(reason)


def test_a_model_that_finds_no_room_fails_the_job(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(1, adapter("time.sleep(1)"))
    [host] = cluster.start_all({})
    (host.ml / "model" / "model.bin").symlink_to("/dev/full")
    assert host.wait(30) == 1
    text = failures([host])[0]
    assert text.startswith("trained, but its results are not kept: ")
    assert "model.bin: No space left on device" in text


def test_a_trainer_that_says_it_is_not_done_has_failed_whatever_its_ranks_say(
    make_cluster: MakeCluster,
) -> None:
    said = "\ndef outcome(job):\n    return {'status': 'failed', 'step': 3, 'message': 'no'}\n"
    cluster = make_cluster(1, adapter("") + said)
    [host] = cluster.start_all({})
    assert host.wait(30) == 1
    assert failures([host])[0].startswith("every rank ended with 0, but its outcome is {'status'")
    assert list((host.ml / "model").iterdir()) == []
