"""Long ones: a host that is a minute late, and kills at any moment."""

from __future__ import annotations

import json
import os
import random
import time
from functools import partial

import psutil
import pytest

from tests.docker.entrypoint.cluster import wait_until
from tests.docker.entrypoint.conftest import MakeCluster
from tests.docker.entrypoint.container import HostProcess
from tests.docker.entrypoint.ranks import adapter, waiting_adapter

pytestmark = [
    pytest.mark.soak,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]

KILLS = 12


def test_a_host_that_is_a_minute_late_is_named_after_a_minute_and_waited_for(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, adapter(""))
    timing = json.dumps({})
    head = cluster.start("algo-1", {}, MASK_RCNN_TIMING=timing)
    time.sleep(62)
    assert "entrypoint: waiting for algo-2 since 60 s" in head.stderr
    late = cluster.start("algo-2", {}, MASK_RCNN_TIMING=timing)
    assert [head.wait(60), late.wait(60)] == [0, 0]


def test_whatever_is_killed_once_all_are_there_both_hosts_end_with_a_reason(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, waiting_adapter())
    choose = random.Random(8)
    for _ in range(KILLS):
        # mpirun's own SIGTERM at a failure is a wish to stop for these ranks.
        (cluster.log / "stop").unlink(missing_ok=True)
        hosts = cluster.start_all({}, MASK_RCNN_PROCESSES_PER_HOST="2")
        # Before that the head would wait for another start of the worker.
        wait_until(partial(_are_all_there, hosts[0]))
        time.sleep(choose.uniform(0, 2.5))
        victim = choose.choice([process for host in hosts for process in _below(host)])
        name = " ".join(victim.cmdline()[:4])
        survivors = [host for host in hosts if host.main != victim]
        victim.kill()
        _check_end(survivors, name)


def _are_all_there(head: HostProcess) -> bool:
    return "algo-2 is ready" in head.stderr


def _below(host: HostProcess) -> list[psutil.Process]:
    """Return the entry point and everything below it that a job needs to its end.

    Not the SSH session that started mpirun's daemon: it is over by then.
    """
    found = []
    for process in host.processes():
        try:
            words = process.cmdline()
        except psutil.NoSuchProcess:
            continue
        if words and not words[0].startswith("sshd:") and process.name() not in {"ssh", "sh"}:
            found.append(process)
    return found


def _check_end(hosts: list[HostProcess], victim: str) -> None:
    codes = [host.wait(40) for host in hosts]
    assert codes == [1] * len(hosts), (victim, codes)
    assert all(host.failure for host in hosts), victim
