"""`mask-rcnn-node health REQUEST` and `replace REQUEST`, asked on the cluster's head."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..config import NodeConfig, load
from ..errors import NodeError, UsageError
from ..paths import ASSET
from .all_reduce import Ranks, measure
from .busy import Busy, busy
from .machine import ENVIRONMENT
from .mounts import Mount
from .reply import fit
from .request import HealthRequest
from .ssh import Ssh, session
from .survey import Host, Report, survey
from .wanted import DISKS, Wanted

RANK_PROGRAM = Path(__file__).with_name("all_reduce_rank.py")

AROUND_CHECKS_S = 10.0
"""What a look at a node takes beyond its slowest check: SSH, and Python's start."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return how the nodes are.

    Raises:
        NodeError: The request is not as it must be, or this is no head.
    """
    asked, config = HealthRequest.read(request), load()
    if config.role != "head":
        raise NodeError("the cluster's health is asked on its head, and this is a worker")
    _allow_many_files()
    begin = time.monotonic()
    reports = survey(
        find_hosts(config),
        {role: _wanted(config, asked, role) for role in ("head", "worker")},
        ssh=Ssh(),
        timeout_s=asked.check_s + AROUND_CHECKS_S,
    )
    running = busy(config)
    left_s = asked.timeout_s - (time.monotonic() - begin)
    return fit(
        {
            "hosts": [report.to_json() for report in reports],
            "all_reduce": _all_reduce(config, asked, reports, running, left_s),
            "busy": running and asdict(running),
        }
    )


def _allow_many_files() -> None:
    """A thousand nodes are three thousand pipes; what SSM starts may have 1,024 files open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


LEAVE = ("env", f"PYTHONPATH={ASSET}", f"{ASSET}/bin/python", "-m", "node.health.leave")
LEAVE_S = 60.0


def replace(request: dict[str, Any]) -> dict[str, Any]:
    """Let a node leave, before the caller ends its instance; a head just ends.

    Returns:
        `told`, whether the worker answered, and what becomes of the `job` that runs, if any does.

    Raises:
        NodeError: There is no such node, or its loss would throw away what a job has done.
    """
    config, instance_id = load(), request.get("instance_id")
    host = next((each for each in find_hosts(config) if each.instance_id == instance_id), None)
    if host is None:
        raise UsageError(f"replace: instance_id: {str(instance_id)[:80]!r} is no node of it")
    running = busy(config)
    if running and not running.survives(host.role):
        raise NodeError(
            f"job {running.name} runs and has no checkpoint yet: without {instance_id} it would "
            f"begin anew. Wait for its first checkpoint, or stop it, and ask again"
        )
    told = host.role != "head" and host.address is not None and _tell(host.address)
    job = running and running.what_happens(host.role)
    return {"instance_id": instance_id, "told": told, "job": job}


def _tell(address: str) -> bool:
    """Return whether the node heard that it leaves; one that is dead hears nothing."""
    with session(Ssh().command(address, LEAVE), timeout_s=LEAVE_S) as opened:
        return opened.receive() == "leaving\n"


def find_hosts(config: NodeConfig) -> list[Host]:
    """Return the nodes that there should be: head first, each role by instance id."""
    from ..discovery.find import discover

    found = discover(config)
    hosts = [Host(each.instance_id, each.role, each.address, each.slots) for each in found.hosts]
    hosts += [
        Host(each.instance_id, each.role or "worker", each.address or None, left_out=each.reason)
        for each in found.left_out
    ]
    return sorted(hosts, key=lambda host: (host.role != "head", host.instance_id))


def _wanted(config: NodeConfig, asked: HealthRequest, role: str) -> Wanted:
    # The root of EFS may be closed to all but the cluster's own folder.
    mounts = [Mount("efs", config.efs.mount, str(config.nodes.parent))]
    if config.fsx:
        mounts.append(Mount("fsx", config.fsx.mount, config.fsx.mount))
    return Wanted(
        mounts=tuple(mounts),
        gpus=asked.gpus.get(role, 0),
        efa_interfaces=asked.efa_interfaces.get(role, 0),
        disks=dict(DISKS),
        runs_in=config.runs_in,
        timeout_s=asked.check_s,
    )


def _all_reduce(
    config: NodeConfig,
    asked: HealthRequest,
    reports: Sequence[Report],
    running: Busy | None,
    left_s: float,
) -> dict[str, Any] | None:
    """Measure it; else say why not. None where nobody asked."""
    if not asked.all_reduce:
        return None
    if running:
        return _left_out(f"job {running.name} runs, and both would be slow")
    ranks = Ranks.of(reports)
    if ranks is None:
        return _left_out("fewer than two training processes are ready")
    if left_s < asked.check_s:
        return _left_out(f"the look at the nodes left no time for it: {asked.timeout_s:g} s in all")
    program = _program(config, asked)
    if program is None:
        return _left_out("no image with torch was named for it")
    return measure(ranks, ssh=Ssh(), program=program, timeout_s=left_s)


def _left_out(why: str) -> dict[str, Any]:
    return {"status": "skipped", "message": why}


def _program(config: NodeConfig, asked: HealthRequest) -> list[str] | None:
    """Return how a host runs its part: in the job's image, or in the nodes' environment."""
    if config.runs_in == "environment":
        return [ENVIRONMENT, "-I", str(RANK_PROGRAM)]
    if asked.image is None:
        return None
    return [
        *("env", f"PYTHONPATH={ASSET}", f"{ASSET}/bin/python", "-m", "node.health.in_image"),
        asked.image,
    ]
