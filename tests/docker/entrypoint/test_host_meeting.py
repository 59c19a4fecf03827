"""Hosts that come late, under other names, from elsewhere, or not at all."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docker.entrypoint.cluster import wait_until
from tests.docker.entrypoint.conftest import MakeCluster
from tests.docker.entrypoint.following import codes, failures, wait_for_ranks
from tests.docker.entrypoint.ranks import adapter, waiting_adapter

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]

OTHER_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJd6Q5GtX5q3D0yVqG1c2nq3kq9cYt7o1R1n4s8kz0aQ"


def test_a_host_that_comes_late_is_waited_for(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(3, adapter(""))
    head, first = cluster.start("algo-1", {}), cluster.start("algo-2", {})
    wait_until(lambda: "waiting for algo-3 since" in head.stderr)
    assert "waiting for algo-2, algo-3 since" in head.stderr or "algo-2 is ready" in head.stderr
    late = cluster.start("algo-3", {})
    assert codes([head, first, late]) == [0, 0, 0]


def test_a_head_that_comes_late_or_has_no_name_yet_is_waited_for(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, adapter(""))
    nameless = {name: cluster.names[name] for name in ("algo-2",)}
    lost = cluster.start("algo-2", {}, names=nameless)
    wait_until(lambda: "waiting for the head algo-1" in lost.stderr)
    assert "the name algo-1 does not resolve" in lost.stderr
    lost.vanish()
    worker = cluster.start("algo-2", {})
    wait_until(
        lambda: (
            "port 7337: Connection refused" in worker.stderr
            or "port 7337: No route to host" in worker.stderr
        )
    )
    assert codes([cluster.start("algo-1", {}), worker]) == [0, 0]


def test_a_head_without_a_route_is_named(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, adapter(""))
    elsewhere = {**cluster.names, "algo-1": "10.78.0.1"}
    worker = cluster.start("algo-2", {}, names=elsewhere)
    wait_until(lambda: "waiting for the head algo-1" in worker.stderr)
    assert "port 7337: Network is unreachable" in worker.stderr


def test_a_host_whose_address_is_not_that_of_its_name_is_not_let_in(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(3, adapter(""))
    mixed = {**cluster.names, "algo-2": f"{cluster.names['algo-3']}"}
    head = cluster.start("algo-1", {}, names=mixed)
    stranger = cluster.start("algo-2", {})
    wait_until(lambda: "it refuses this host" in stranger.stderr)
    assert "10.77.0.2 says it is algo-2, whose address is 10.77.0.3: refused" in head.stderr
    assert "algo-2 is ready" not in head.stderr


def test_a_worker_of_another_job_fails_this_one_with_what_differs(
    make_cluster: MakeCluster,
) -> None:
    cluster = make_cluster(2, adapter(""))
    head = cluster.start("algo-1", {})
    worker = cluster.start("algo-2", {}, MASK_RCNN_PROCESSES_PER_HOST="4")
    assert codes([head, worker]) == [1, 1]
    assert failures([head, worker])[1] == ("host algo-2: its processes_per_host is 4, the head's 1")


def test_a_worker_that_cannot_start_tells_the_head_why(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, adapter(""))
    head = cluster.start("algo-1", {})
    worker = cluster.start("algo-2", {}, data=cluster.folder / "nothing")
    assert codes([head, worker]) == [1, 1]
    assert failures([head])[0].startswith("host algo-2: MASK_RCNN_DATA: ")
    assert failures([worker])[0].startswith("MASK_RCNN_DATA: ")


def test_a_head_that_cannot_start_tells_the_workers_why(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(2, adapter(""))
    worker = cluster.start("algo-2", {})
    head = cluster.start("algo-1", {}, MASK_RCNN_DISTRIBUTION="pvm")
    assert codes([head, worker]) == [1, 1]
    reason = "MASK_RCNN_DISTRIBUTION: 'pvm' is not one of mpi, torchrun, smddp, elastic"
    assert failures([head, worker]) == [reason, f"host algo-1: {reason}"]


def test_only_the_head_may_log_in_even_with_its_key(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(3, waiting_adapter())
    hosts = cluster.start_all({})
    wait_for_ranks(cluster, 3)
    match = re.search(r"-F (\S+/ssh_config)", hosts[0].stderr)
    assert match is not None

    def log_in(network_of: int) -> subprocess.CompletedProcess[str]:
        """Log in with the files of the head, through the network of a host."""
        processes = (hosts[0].main.pid, hosts[network_of].main.pid)
        spaces = ["--mount=/proc/{}/ns/mnt", "--net=/proc/{}/ns/net"]
        command = [
            *(
                "nsenter",
                *(space.format(pid) for space, pid in zip(spaces, processes, strict=True)),
            ),
            *("ssh", "-F", match[1], "-o", f"BindAddress={cluster.names[hosts[network_of].name]}"),
            *("algo-2", "id"),
        ]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    assert log_in(0).returncode == 0
    refused = log_in(2)
    assert refused.returncode == 255
    assert "Permission denied (publickey)" in refused.stderr
    # A host with another key is none of this job.
    known_hosts = Path(f"/proc/{hosts[0].main.pid}/root{match[1]}").with_name("known_hosts")
    known_hosts.write_text(re.sub("ed25519 .*", f"ed25519 {OTHER_KEY}", known_hosts.read_text()))
    assert "Host key verification failed" in log_in(0).stderr
