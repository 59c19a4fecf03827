"""Which workers of an elastic job are used, while they come and go."""

from __future__ import annotations

import queue
import socket
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from entrypoint.crew import Approach
from entrypoint.door import Arrival, Door
from entrypoint.elastic_settings import Listed
from entrypoint.errors import FAILED, Ending, EntrypointError, StopAsked
from entrypoint.host import Host
from entrypoint.job import Job
from entrypoint.roster import Roster
from entrypoint.signals import StopSignals
from entrypoint.ssh_client import Worker
from entrypoint.timing import Timing
from entrypoint.wire import Link, LinkLost

JOB = Job(
    algorithm="horovod",
    distribution="elastic",
    hyperparameters={},
    data="/data",
    log="/log",
    hosts=["w-0", "w-1", "w-2"],
    current_host="launcher",
    processes_per_host=8,
    network_interface="eth0",
    gpus_per_host=0,
    instance_type=None,
    launcher="launcher",
)
TIMING = Timing(settle_s=0, together_s=0.2, farewell_s=0.2)


class FakeHost:
    """Events of a launcher, and nothing else of it."""

    job = JOB

    def __init__(self) -> None:
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()

    def tell(self, event: dict[str, Any]) -> None:
        self.events.put(event)

    def next_event(self) -> dict[str, Any] | None:
        try:
            return self.events.get(timeout=0.01)
        except queue.Empty:
            return None

    def listen(self, *_: object) -> None:
        """What workers send, the tests tell themselves."""


class FakeDoor(Door):
    def close(self) -> None:
        pass

    def why(self, host: str) -> str:
        return f" (no {host})"


class Stage:
    """A roster, and workers that come to it."""

    def __init__(self, least: int = 8, wait_s: float = 0.3) -> None:
        self.host = FakeHost()
        self.told: dict[str, Link] = {}
        approach = Approach(self._open, "/key", wait_s, takes_another=True)
        self.roster = Roster(cast(Host, self.host), approach, least, TIMING)

    def _open(self, on_arrival: Callable[[Arrival], None], on_misfit: object) -> Door:
        self._on_arrival = on_arrival
        return FakeDoor()

    def come(self, host: str, address: str, *, is_ready: bool = True) -> None:
        ours, theirs = socket.socketpair()
        self.told[host] = Link(theirs, silence_s=2)
        worker = Worker(host, address, 2222, "mask-rcnn", "key", None)
        self._on_arrival(Arrival(host, Link(ours), address, None, worker, f"pod of {address}"))
        if is_ready:
            self.host.tell({"kind": "ready", "host": host})

    def happen(self, kind: str, host: str) -> None:
        self.roster.take({"kind": kind, "host": host, "reason": "why"})

    def lines(self) -> list[str] | None:
        listed = self.roster.newest()
        return None if listed is None else listed.lines

    def heard(self, host: str) -> list[str]:
        """Return what a worker was told."""
        kinds = []
        self.told[host].limit_silence(0.05)
        try:
            while True:
                kinds.append(str(cast(dict[str, Any], self.told[host].receive())["kind"]))
        except LinkLost:
            return kinds


class Asked:
    """SIGTERM came so often."""

    def __init__(self, count: int = 0) -> None:
        self.count = count


def asked(count: int = 0) -> StopSignals:
    return cast(StopSignals, Asked(count))


def full_stage(least: int = 8) -> Stage:
    stage = Stage(least)
    for number in range(3):
        stage.come(f"w-{number}", f"10.0.0.{number}")
    stage.roster.wait(asked())
    assert stage.lines() == ["10.0.0.0:8", "10.0.0.1:8", "10.0.0.2:8"]
    return stage


def test_all_are_waited_for_and_listed_by_address() -> None:
    stage = full_stage()
    assert stage.lines() is None
    assert [stage.heard(host) for host in JOB.hosts] == [["welcome"]] * 3


def test_only_the_first_writes_what_computes() -> None:
    stage = Stage()
    for number in range(3):
        stage.come(f"w-{number}", f"10.0.0.{number}")
    stage.roster.wait(asked())
    told = [cast(dict[str, Any], stage.told[host].receive()) for host in JOB.hosts]
    assert [each["records"] for each in told] == [True, False, False]
    assert [each["address"] for each in told] == ["10.0.0.0", "10.0.0.1", "10.0.0.2"]


def test_enough_begin_without_the_others_after_a_while() -> None:
    stage = Stage(wait_s=60)
    stage.come("w-1", "10.0.0.1")
    begin = time.monotonic()
    stage.roster.wait(asked())
    assert 0.2 <= time.monotonic() - begin < 5
    assert stage.lines() == ["10.0.0.1:8"]


def test_too_few_are_an_error_with_names_and_reasons() -> None:
    stage = Stage(least=16)
    stage.come("w-1", "10.0.0.1")
    with pytest.raises(EntrypointError) as refused:
        stage.roster.wait(asked())
    assert str(refused.value) == (
        "8 of at least 16 processes were ready in 0.3 s: w-0 (no w-0), w-2 (no w-2)"
    )


def test_a_worker_that_cannot_take_part_and_sigterm_end_the_waiting() -> None:
    stage = Stage()
    stage.host.tell({"kind": "failed", "host": "w-1", "reason": "no data"})
    with pytest.raises(EntrypointError, match="host w-1: no data"):
        stage.roster.wait(asked())
    with pytest.raises(StopAsked):
        Stage().roster.wait(asked(1))


def test_a_lost_worker_is_left_out_until_another_has_its_name() -> None:
    stage = full_stage()
    stage.happen("link_lost", "w-1")
    assert stage.lines() == ["10.0.0.0:8", "10.0.0.2:8"]
    assert stage.roster.lost == {"w-1": "pod of 10.0.0.1"}
    stage.come("w-1", "10.0.0.9", is_ready=False)
    stage.roster.take(stage.host.events.get())
    assert stage.lines() is None
    stage.happen("ready", "w-1")
    assert stage.roster.newest() == Listed(
        ["10.0.0.0:8", "10.0.0.9:8", "10.0.0.2:8"],
        [
            Worker(address, address, 2222, "mask-rcnn", "key", None)
            for address in ("10.0.0.0", "10.0.0.9", "10.0.0.2")
        ],
    )
    assert stage.roster.lost == {}


def test_a_worker_that_is_to_stop_is_let_go_while_enough_are_left() -> None:
    stage = full_stage(least=16)
    stage.happen("stopping", "w-0")
    time.sleep(0.01)
    assert stage.lines() == ["10.0.0.1:8", "10.0.0.2:8"]
    assert stage.heard("w-0") == ["welcome"]
    stage.happen("stopping", "w-1")
    time.sleep(0.01)
    # Too few without it: nobody is let go, all save.
    assert stage.lines() is None
    assert [stage.heard(host) for host in ("w-1", "w-2")] == [["welcome", "terminate"]] * 2


def test_workers_hear_how_it_ended() -> None:
    stage = full_stage()
    stage.happen("link_lost", "w-0")
    stage.roster.dismiss(Ending(FAILED, "no"))
    assert [stage.heard(host) for host in ("w-1", "w-2")] == [["welcome", "exit"]] * 2
