"""The all-reduce: its formula, and real ranks of torch over real SSH."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from node.health import all_reduce_rank
from node.health.all_reduce import Ranks, bus_bandwidth, measure
from node.health.check import ok
from node.health.survey import Host, Report
from tests.node.health.conftest import Nodes

PROGRAM = (sys.executable, "-I", str(Path(all_reduce_rank.__file__)))


def test_bus_bandwidth_is_what_nccl_tests_says() -> None:
    # 4,218,900 bytes in 1011.4 us over two ranks: 4.17 GB/s; over four, 1.5 times as much.
    assert bus_bandwidth(4_218_900, 1011.4e-6, 2) == pytest.approx(4.171, abs=0.001)
    assert bus_bandwidth(4_218_900, 1011.4e-6, 4) == pytest.approx(6.257, abs=0.001)


def ready(slots: int, gpus: int | None = None, left_out: str | None = None) -> Report:
    host = Host("i-1", "worker", "10.0.0.1", slots, left_out)
    found = [ok("ssh")] if gpus is None else [ok("ssh"), ok("gpus", gpus)]
    return Report(host, found)


@pytest.mark.parametrize(
    ("reports", "world", "backend"),
    [
        # A head without GPU conducts.
        ([ready(0), ready(8, 8), ready(8, 8)], 16, "nccl"),
        ([ready(1), ready(1)], 2, "gloo"),
        ([ready(8, 8)], 8, "nccl"),
        ([ready(8, 8), ready(8, 8, "it is about to leave")], 8, "nccl"),
    ],
)
def test_who_would_train_takes_part(reports: list[Report], world: int, backend: str) -> None:
    ranks = Ranks.of(reports)
    assert ranks is not None
    assert (ranks.world, ranks.backend) == (world, backend)


@pytest.mark.parametrize("reports", [[], [ready(0), ready(1)], [ready(1), Report(ready(1).host)]])
def test_one_process_alone_reduces_nothing(reports: list[Report]) -> None:
    assert Ranks.of(reports) is None


def ranks(nodes: Nodes, *slots: int) -> Ranks:
    hosts = [replace(host, slots=count) for host, count in zip(nodes.hosts[1:], slots, strict=True)]
    return Ranks(tuple(hosts), "gloo")


@pytest.mark.root
@pytest.mark.slow
def test_real_ranks_on_two_hosts_measure_their_bandwidth(nodes: Nodes) -> None:
    result = measure(
        ranks(nodes, 2, 1), ssh=nodes.ssh, program=PROGRAM, timeout_s=90, size_bytes=8 << 20
    )
    assert result["status"] == "ok", result
    assert (result["hosts"], result["ranks"], result["backend"]) == (2, 3, "gloo")
    assert result["bytes"] == 8 << 20
    assert 0 < result["seconds"] < 30
    # Rounded to a microsecond and to a MB/s.
    assert result["bus_gb_per_s"] == pytest.approx(
        (8 << 20) / result["seconds"] * 4 / 3 / 1e9, abs=0.002, rel=0.01
    )


@pytest.mark.root
@pytest.mark.slow
def test_a_host_that_cannot_take_part_is_named_with_its_words(nodes: Nodes) -> None:
    two = ranks(nodes, 1, 1)
    hosts = (two.hosts[0], replace(two.hosts[1], address=nodes.network.names["head"]))
    program = (
        *("sh", "-c", '[ "$(hostname -I | cut -d" " -f1)" = "$0" ] && exec "$@"; echo none >&2'),
        *(str(hosts[0].address), *PROGRAM),
    )
    result = measure(Ranks(hosts, "gloo"), ssh=nodes.ssh, program=program, timeout_s=25)
    assert result["status"] == "failed"
    assert f"{hosts[1].address}: none" in result["message"]


def test_the_interface_is_the_one_with_the_address() -> None:
    assert all_reduce_rank.interface_of("127.0.0.1") == "lo"
    with pytest.raises(OSError, match=r"no network interface has the address 192\.0\.2\.1"):
        all_reduce_rank.interface_of("192.0.2.1")
