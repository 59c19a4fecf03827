"""An all-reduce over all hosts, and its bandwidth."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from .ssh import Session, Ssh, session
from .survey import Host, Report

SIZE_BYTES = {"nccl": 256 << 20, "gloo": 32 << 20}
"""By backend: as much as the gradients of a Mask R-CNN with ResNet-50 in fp32 (44 million), and
more where it takes milliseconds."""


def bus_bandwidth(size_bytes: int, seconds: float, ranks: int) -> float:
    """Return the bus bandwidth in GB/s: what each link must have carried.

    busbw = size / time * 2 (n - 1) / n, which does not depend on the number of ranks n:
    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    return size_bytes / seconds * 2 * (ranks - 1) / ranks / 1e9


GRACE_S = 4.0
"""After one host has failed, until those are cut off that wait for it."""


@dataclass(frozen=True)
class Ranks:
    """The hosts that take part, with the processes of each."""

    hosts: tuple[Host, ...]
    backend: str

    @classmethod
    def of(cls, reports: Sequence[Report]) -> Ranks | None:
        """Choose the nodes that would train; None where that is one process or none."""
        training = [report for report in reports if report.host.slots and report.is_ready]
        hosts = tuple(report.host for report in training)
        if sum(host.slots for host in hosts) < 2:
            return None
        has_gpus = all(report.value_of("gpus") for report in training)
        return cls(hosts, "nccl" if has_gpus else "gloo")

    @property
    def world(self) -> int:
        return sum(host.slots for host in self.hosts)


def measure(
    ranks: Ranks,
    *,
    ssh: Ssh,
    program: Sequence[str],
    timeout_s: float,
    size_bytes: int | None = None,
) -> dict[str, Any]:
    """Run it; return what it took, or why it failed.

    Args:
        ranks: Who takes part.
        ssh: The way to them.
        program: `all_reduce_rank.py` as each host runs it.
        timeout_s: For all of it.
        size_bytes: What is reduced, on each rank.
    """
    size_bytes = size_bytes or SIZE_BYTES[ranks.backend]
    facts: dict[str, Any] = {
        "hosts": len(ranks.hosts),
        "ranks": ranks.world,
        "backend": ranks.backend,
        "bytes": size_bytes,
    }
    # When SSH is cut off, what it has started goes on.
    bounded = ["timeout", "--kill-after=5", f"{timeout_s:.0f}", *program]
    with ExitStack() as stack:
        sessions = [
            stack.enter_context(
                session(ssh.command(str(host.address), bounded), timeout_s=timeout_s)
            )
            for host in ranks.hosts
        ]
        _begin(ranks, sessions, size_bytes, timeout_s)
        meet = sessions[0].receive()
        for other in sessions[1:]:
            # Without the first, the others have nobody to wait for.
            other.send(meet or "\n")
        answers = _collect(sessions)
        if all(answers):
            return {**facts, **_judge(json.loads(str(answers[0])), ranks.world)}
        return {**facts, "status": "failed", "message": _why(ranks, sessions, answers, timeout_s)}


def _begin(ranks: Ranks, sessions: Sequence[Session], size_bytes: int, timeout_s: float) -> None:
    first = 0
    for host, opened in zip(ranks.hosts, sessions):
        work = {
            "address": host.address,
            "first": first,
            "slots": host.slots,
            "world": ranks.world,
            "backend": ranks.backend,
            "bytes": size_bytes,
            # Before it is killed, so that it says whom it waited for.
            "timeout_s": max(timeout_s - 5, timeout_s / 2),
        }
        opened.send(json.dumps(work) + "\n")
        first += host.slots


def _collect(sessions: Sequence[Session]) -> list[str | None]:
    """Return the last line of each host; None for those that ended without any."""
    answers: list[str | None] = [None] * len(sessions)
    failed = threading.Event()
    done = threading.Event()

    def wait(number: int) -> None:
        answers[number] = sessions[number].receive()
        if answers[number] is None:
            failed.set()

    def cut_off() -> None:
        failed.wait()
        if not done.wait(GRACE_S):
            for opened in sessions:
                opened.cut_off()

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(len(sessions))]
    for thread in [threading.Thread(target=cut_off, daemon=True), *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    failed.set()
    return answers


def _judge(result: dict[str, Any], world: int) -> dict[str, Any]:
    if not result["is_right"]:
        return {
            "status": "failed",
            "message": "the sum is wrong on the first rank: what one host sent another is not "
            "what that got. Look at the network driver, and at the hosts' memory (ecc)",
        }
    seconds = float(result["seconds"])
    return {
        "status": "ok",
        "seconds": round(seconds, 6),
        "bus_gb_per_s": round(bus_bandwidth(result["bytes"], seconds, world), 3),
    }


def _why(
    ranks: Ranks,
    sessions: Sequence[Session],
    answers: Sequence[str | None],
    timeout_s: float,
) -> str:
    """Say which hosts had no result, and what they said; the first is often the cause."""
    said = [
        (str(host.address), opened.what_it_said())
        for host, opened, answer in zip(ranks.hosts, sessions, answers)
        if not answer
    ]
    # Those that said nothing waited for the others.
    silent = [f"{address}: {words}" for address, words in said if words] or [
        f"{address}: no answer within {timeout_s:g} s" for address, _ in said
    ]
    more = f"; and {len(silent) - 3} more" if len(silent) > 3 else ""
    return f"no all-reduce: {'; '.join(silent[:3])}{more}"
