"""All nodes at once, over real SSH between network namespaces."""

from __future__ import annotations

import dataclasses
import time

import pytest

from node.health.check import Check, ok
from node.health.clock import SAMPLES
from node.health.mounts import Mount
from node.health.survey import Host, Report, compare_drivers, survey
from tests.docker.entrypoint.cluster import run
from tests.node.health.conftest import Nodes

pytestmark = pytest.mark.root


def of(report: Report) -> dict[str, Check]:
    return {check.name: check for check in report.checks}


def test_every_node_tells_of_itself(nodes: Nodes) -> None:
    reports = survey(nodes.hosts, nodes.wanted(), ssh=nodes.ssh, timeout_s=40)
    assert [report.host.instance_id for report in reports] == ["i-head", "i-one", "i-two"]
    for report in reports:
        checks = of(report)
        for name in ("registered", "ssh", "clock", "efs", "disk", "memory", "uptime"):
            assert name in checks
        assert checks["ssh"].status == "ok"
        # One machine: the clocks are one.
        assert abs(float(str(checks["clock"].value).split()[0])) < 50
        assert str(checks["efs"].value).startswith("tmpfs ")
        assert "gpus" not in checks and "efa" not in checks


def test_what_a_node_lacks_is_its_own(nodes: Nodes) -> None:
    wanted = nodes.wanted()
    wanted["worker"] = dataclasses.replace(
        wanted["worker"], gpus=8, mounts=(Mount("efs", "/efs", "/efs"),)
    )
    head, worker, _ = map(of, survey(nodes.hosts, wanted, ssh=nodes.ssh, timeout_s=40))
    assert head["efs"].status == "ok"
    assert worker["efs"].message.startswith("nothing is mounted at /efs")
    assert "has 8 GPU(s)" in worker["gpus"].message


def test_nodes_that_are_gone_or_hang_are_told_in_time(nodes: Nodes) -> None:
    there, gone = nodes.hosts[1], Host("i-gone", "worker", "10.77.0.99", 1)
    silent = Host("i-silent", "worker", None, left_out="it has not registered")
    nodes.network.pull_plug("two")
    try:
        begin = time.monotonic()
        reports = survey(
            [there, nodes.hosts[2], gone, silent],
            nodes.wanted(timeout_s=8),
            ssh=nodes.ssh,
            timeout_s=20,
        )
        assert time.monotonic() - begin < 40
    finally:
        run("ip", "-n", f"{nodes.network.prefix}-switch", "link", "set", "port3", "up")
    first, cut_off, unknown, unregistered = map(of, reports)
    assert first["ssh"].status == "ok"
    for checks in (cut_off, unknown):
        assert checks["ssh"].status == "failed"
        assert "o route to host" in checks["ssh"].message or "imed out" in checks["ssh"].message
    assert list(unregistered) == ["registered"]
    assert unregistered["registered"].message == "training leaves it out: it has not registered"


def test_a_probe_that_breaks_off_says_why(nodes: Nodes) -> None:
    answers = "read question; date +%s; " * (1 + SAMPLES)
    program = ("sh", "-c", f"read wanted; {answers} read go; echo broken >&2; exit 3")
    [report] = survey(nodes.hosts[:1], nodes.wanted(), ssh=nodes.ssh, timeout_s=20, probe=program)
    assert of(report)["ssh"].status == "ok"
    assert of(report)["probe"].message == "the node's own check broke off: broken"


def test_a_host_key_that_is_not_the_clusters_is_refused(nodes: Nodes) -> None:
    known = nodes.folder / "known_hosts"
    right = known.read_text()
    public = (nodes.folder / "user.pub").read_text().split()
    known.write_text(f"node {public[0]} {public[1]}\n")
    try:
        [report] = survey(nodes.hosts[:1], nodes.wanted(), ssh=nodes.ssh, timeout_s=20)
    finally:
        known.write_text(right)
    assert "Host key verification failed" in of(report)["ssh"].message


def driven(*versions: str) -> list[Report]:
    host = Host("i-1", "worker", "10.0.0.1", 8)
    return [Report(host, [ok("driver", version)]) for version in versions]


@pytest.mark.parametrize(
    ("versions", "others"),
    [
        (["550.163.01", "550.163.01"], []),
        (["550.163.01", "550.54.15", "550.163.01"], [1]),
        # Of two that are equally frequent, the newer is right.
        (["550.163.01", "550.54.15"], [1]),
        (["9.0", "10.0"], [0]),
        ([], []),
    ],
)
def test_a_driver_that_others_do_not_have_is_told(versions: list[str], others: list[int]) -> None:
    reports = driven(*versions)
    compare_drivers(reports)
    told = [number for number, each in enumerate(reports) if of(each)["driver"].status != "ok"]
    assert told == others
