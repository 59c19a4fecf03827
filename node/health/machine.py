"""A node's disk, memory, clock, and what runs its jobs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..conductor.engine import engine
from ..errors import NodeError
from ..paths import ASSET
from .check import Check, failed, ok, warning
from .command import run

GIB = 1 << 30

LEAST_FREE_GIB = 2.0
LOW_SHARE = 0.1
"""Of a disk or the memory: less free is told."""

ENVIRONMENT = str(ASSET / "venv/bin/python")
"""Where the set-up makes one or, where node.json names one, has a link to it."""


def check_disks(paths: dict[str, str]) -> Iterator[Check]:
    """Yield how much room there is, for check name and path; what is not there has no check."""
    for name, path in paths.items():
        if not Path(path).is_dir():
            continue
        usage = shutil.disk_usage(path)
        free, total = usage.free / GIB, usage.total / GIB
        value = f"{free:.1f} of {total:.1f} GiB free"
        if free < LEAST_FREE_GIB:
            yield failed(
                name,
                f"{path} is full: {value}. Delete what is not needed (docker image prune), or "
                "deploy ClusterStack with a larger cluster_volume_gib",
                value,
            )
        elif free < total * LOW_SHARE:
            yield warning(name, f"{path} fills up: {value}", value)
        else:
            yield ok(name, value)


def check_memory(meminfo: Path = Path("/proc/meminfo")) -> Check:
    """Look how much memory is left."""
    kib = dict(re.findall(r"^(\w+):\s+(\d+) kB", meminfo.read_text(encoding="ascii"), re.MULTILINE))
    free, total = int(kib["MemAvailable"]) * 1024 / GIB, int(kib["MemTotal"]) * 1024 / GIB
    value = f"{free:.1f} of {total:.1f} GiB free"
    if free < total * LOW_SHARE:
        return warning("memory", f"little memory is left: {value}. What runs there?", value)
    return ok("memory", value)


def check_uptime(uptime: Path = Path("/proc/uptime")) -> Check:
    """Tell for how many seconds the node has been up."""
    return ok("uptime", int(float(uptime.read_text(encoding="ascii").split()[0])))


def check_clock_service(*, timeout_s: float) -> Check | None:
    """Look whether chrony keeps the clock; None where there is no chrony.

    Fields 5 and 14 of `chronyc -c tracking`: the offset in seconds, and the leap status, which
    says whether it is synchronised (chronyc(1)).
    """
    answer = run(["chronyc", "-c", "tracking"], timeout_s=timeout_s)
    if answer.code is None and not answer.is_late:
        return None
    fields = answer.text.strip().split(",")
    if not answer.is_ok or len(fields) < 14:
        said = answer.error or answer.text.strip() or "says nothing of its source of time"
        return warning("chrony", f"chronyc: {said}")
    if fields[13] == "Not synchronised":
        return warning(
            "chrony",
            "the clock is not synchronised. Is the Amazon Time Sync Service (169.254.169.123) in "
            "its configuration?",
            fields[4],
        )
    return ok("chrony", f"{float(fields[4]) * 1000:.3f} ms")


def check_runtime(runs_in: str, *, timeout_s: float) -> Check:
    """Look whether what a job runs in is there: a container engine, or the nodes' environment."""
    if runs_in == "environment":
        program = "import torch; print(torch.__version__)"
        answer = run([ENVIRONMENT, "-I", "-c", program], timeout_s=timeout_s)
        if answer.is_ok:
            return ok("runtime", f"torch {answer.text.strip()}")
        return failed("runtime", f"{ENVIRONMENT} has no torch: {answer.error or answer.code}")
    try:
        program = engine()
    except NodeError as error:
        return failed("runtime", str(error))
    name = Path(program).name
    answer = run([program, "ps", "--quiet"], timeout_s=timeout_s)
    if answer.is_ok:
        return ok("runtime", name)
    return failed("runtime", f"{name} does not answer: {answer.error or answer.code}")
