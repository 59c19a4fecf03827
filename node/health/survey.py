"""Looks at all nodes side by side, over the cluster's SSH."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..paths import ASSET
from .check import Check, Value, failed, ok, warning
from .clock import SAMPLES, judge_clock, sample
from .ssh import Session, Ssh, session
from .wanted import Wanted

PROBE = ("env", f"PYTHONPATH={ASSET}", f"{ASSET}/bin/python", "-m", "node.health.probe")


@dataclass(frozen=True)
class Host:
    """A node of the cluster, or what should be one."""

    instance_id: str
    role: str
    address: str | None
    """None where it is not known: the node has not registered."""
    slots: int = 0
    """Training processes that it takes: GPUs, or one on a worker without any."""
    left_out: str | None = None
    """Why training leaves it out; None where it does not."""


@dataclass
class Report:
    """What is known of a node."""

    host: Host
    checks: list[Check] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "instance_id": self.host.instance_id,
            "address": self.host.address,
            "role": self.host.role,
            "checks": [check.to_json() for check in self.checks],
        }

    @property
    def is_ready(self) -> bool:
        """Whether training would take it, and it was reached over SSH."""
        answers = any(check.name == "ssh" and check.status == "ok" for check in self.checks)
        return answers and self.host.left_out is None

    def value_of(self, name: str) -> Value:
        """Return what a check saw; None where there is no such check."""
        return next((check.value for check in self.checks if check.name == name), None)


def survey(
    hosts: Sequence[Host],
    wanted: dict[str, Wanted],
    *,
    ssh: Ssh,
    timeout_s: float,
    probe: Sequence[str] = PROBE,
) -> list[Report]:
    """Look at all of them at once.

    Args:
        hosts: In the order of the reports.
        wanted: By role.
        ssh: The way to them.
        timeout_s: For each.
        probe: The program on each.
    """
    reports = [Report(host) for host in hosts]
    threads = [
        threading.Thread(
            target=_look,
            args=(report, wanted[report.host.role], ssh, probe, timeout_s),
            daemon=True,
        )
        for report in reports
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    compare_drivers(reports)
    return reports


def _look(report: Report, wanted: Wanted, ssh: Ssh, probe: Sequence[str], timeout_s: float) -> None:
    host = report.host
    if host.left_out is not None:
        report.checks.append(failed("registered", f"training leaves it out: {host.left_out}"))
    else:
        report.checks.append(ok("registered"))
    if host.address is None:
        return
    with session(ssh.command(host.address, probe), timeout_s=timeout_s) as opened:
        report.checks += _ask(opened, wanted, timeout_s)


def _ask(opened: Session, wanted: Wanted, timeout_s: float) -> list[Check]:
    """Return what a node's probe says."""
    begin = time.monotonic()
    opened.send(wanted.to_line())

    def time_there() -> float:
        opened.send("time\n")
        return float(opened.receive() or "nan")

    try:
        first = sample(time_there)
        seconds = time.monotonic() - begin
        if first.answered != first.answered:  # Not a number: no answer came.
            return [failed("ssh", _why_not(opened, time.monotonic() - begin, timeout_s))]
        clock = judge_clock([sample(time_there) for _ in range(SAMPLES)])
        opened.send("go\n")
        found = [Check(**each) for each in json.loads(opened.receive() or "")]
    except (ValueError, TypeError):
        said = opened.what_it_said()
        return [ok("ssh"), failed("probe", f"the node's own check broke off: {said or 'late'}")]
    return [ok("ssh", f"{seconds:.2f} s"), clock, *found]


def _why_not(opened: Session, seconds: float, timeout_s: float) -> str:
    said = opened.what_it_said()
    if seconds >= timeout_s - 0.5:
        return f"no answer over SSH within {timeout_s:g} s: the node hangs or is gone"
    return f"no SSH to the node: {said or 'the connection was closed'}"


def compare_drivers(reports: Sequence[Report]) -> None:
    """Add a warning to each node whose NVIDIA driver is not the one that most have."""
    versions = {
        id(report): str(check.value)
        for report in reports
        for check in report.checks
        if check.name == "driver"
    }
    if len(set(versions.values())) < 2:
        return
    # Of two that are equally frequent, the newer.
    counts = Counter(versions.values())
    usual = max(counts, key=lambda version: (counts[version], _numbers(version)))
    for report in reports:
        version = versions.get(id(report), usual)
        if version == usual:
            continue
        report.checks = [check for check in report.checks if check.name != "driver"]
        report.checks.append(
            warning(
                "driver",
                f"the NVIDIA driver is {version}, and {usual} on {counts[usual]} other node(s): "
                "deploy ClusterStack again with one machine image, or replace the node",
                version,
            )
        )


def _numbers(version: str) -> list[int]:
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]
