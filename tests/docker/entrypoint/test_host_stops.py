"""SIGTERM to hosts."""

from __future__ import annotations

import json
import os
import re
import time

import pytest

from tests.docker.entrypoint.cluster import QUICK, wait_until
from tests.docker.entrypoint.conftest import MakeCluster
from tests.docker.entrypoint.following import TWO_EACH, codes, wait_for_ranks
from tests.docker.entrypoint.ranks import adapter, careless_adapter, waiting_adapter

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]


@pytest.mark.parametrize("asked", [[0], [1], [0, 1]])
def test_sigterm_to_any_host_or_all_lets_all_ranks_save_and_ends_with_75(
    make_cluster: MakeCluster, asked: list[int]
) -> None:
    cluster = make_cluster(2, waiting_adapter())
    hosts = cluster.start_all({}, **TWO_EACH)
    wait_for_ranks(cluster, 4)
    for number in asked:
        hosts[number].terminate()
    assert codes(hosts) == [75, 75]
    assert [host.failure for host in hosts] == [None, None]
    for rank in range(4):
        assert f"rank {rank} saves" in (cluster.log / f"rank-{rank}.log").read_text()
    # What is half trained is no model.
    assert list((hosts[0].ml / "model").iterdir()) == []
    named = re.search(r"stopped by SIGTERM to algo-(\d), with a checkpoint", hosts[1].stderr)
    assert named is not None
    assert int(named[1]) - 1 in asked


def test_ranks_that_cannot_save_stop_at_sigterm_and_the_job_with_143(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, careless_adapter())
    cluster.log.mkdir(exist_ok=True)
    (cluster.log / "outcome.json").write_text('{"status": "failed"}')
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 2)
    # That was of an earlier start.
    assert not (cluster.log / "outcome.json").exists()
    hosts[1].terminate()
    assert codes(hosts) == [143, 143]
    assert [host.failure for host in hosts] == [None, None]
    outcome = json.loads((cluster.log / "outcome.json").read_text())
    assert outcome["status"] == "stopped"


@pytest.mark.parametrize("times", [1, 2])
def test_ranks_that_do_not_stop_are_killed_after_the_grace_or_a_second_sigterm(
    make_cluster: MakeCluster, times: int
) -> None:
    cluster = make_cluster(2, adapter("signal.signal(15, signal.SIG_IGN)\ntime.sleep(60)"))
    timing = {**QUICK, "grace_s": 2 if times == 1 else 30}
    hosts = cluster.start_all({}, MASK_RCNN_TIMING=json.dumps(timing))
    wait_for_ranks(cluster, 2)
    begin = time.monotonic()
    for _ in range(times):
        hosts[1].terminate()
        time.sleep(0.7)
    assert codes(hosts, 60) == [143, 143]
    assert time.monotonic() - begin < 25


def test_sigterm_before_the_ranks_run_ends_all_with_143(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, waiting_adapter())
    timing = json.dumps({**QUICK, "farewell_s": 0.5})
    head = cluster.start("algo-1", {}, MASK_RCNN_TIMING=timing)
    wait_until(lambda: "waiting for algo-2" in head.stderr)
    head.terminate()
    assert head.wait(20) == 143
