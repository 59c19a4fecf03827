"""Horovod elastic: ranks that are lost leave the others training, and new hosts are taken in.

Each rank keeps the run in its own memory: weights, optimizer and position change together at the
end of a step, so that whatever breaks in a step leaves the state after the step before. Nothing is
copied aside for it. When the ranks meet again, those that are left may be one step apart, since
the last sum reached some of them only; the state of whoever got furthest goes to all. So a step is
either taken once or taken again as a whole, and every picture of a pass counts once.

The launcher decides who is in: `horovodrun --min-np --max-np --host-discovery-script`, see
https://horovod.readthedocs.io/en/stable/elastic_include.html. It orders the ranks.
"""

from __future__ import annotations

import gc
import os
from typing import Protocol, cast

import horovod.torch as hvd
from horovod.common.elastic import notification_manager
from horovod.common.exceptions import HorovodInternalError

from training.cli import log
from training.maskrcnn.checkpoint import State
from training.maskrcnn.connections import hang_up, open_connections, watch
from training.maskrcnn.engines.horovod_engine import HorovodEngine, start
from training.maskrcnn.guard import Stop
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.trainer import Ending

START_S = "180"


class Member(Protocol):
    """A rank that can be built again among others."""

    state: State | None
    """What it goes on from; None before the first step, and while it is training."""

    def train(self, engine: HorovodEngine, stop: Stop) -> Ending:
        """Train among these ranks, from its state, which is the same on all of them."""

    def save_alone(self) -> None:
        """Save a checkpoint without the others."""

    def let_go(self) -> None:
        """Keep nothing but the state after the last whole step."""


def train_elastically(member: Member, stop: Stop, hyperparameters: Hyperparameters) -> Ending:
    """Train to the end, with whatever ranks there are.

    Raises:
        JobFailed: Training cannot go on, whoever takes part.
    """
    # With its cache of answers Horovod 0.28.1 mixes up sums in the second step after a rank has
    # come to two that were there before: "op.preamble.length <= op.nbytes".
    os.environ["HOROVOD_CACHE_CAPACITY"] = "0"
    # Those that were there wait so long for one that starts, imports included; then they abort.
    os.environ.setdefault("HOROVOD_GLOO_TIMEOUT_SECONDS", START_S)
    hosts = HostChanges(stop)
    while True:
        hosts.is_pending = False
        before = open_connections()
        engine = cast(HorovodEngine, start(hyperparameters))
        connections = dict(open_connections().items() - before.items())
        watch(connections)
        hosts.listen()
        try:
            member.state = share_newest(engine, member.state)
            ending = member.train(engine, hosts)
        except HorovodInternalError as error:
            # Horovod's only sign that a rank is gone; its text names a connection.
            log.print(f"rank {engine.rank}: another rank is gone ({error})", markup=False)
            ending = "regrouping"
            # Horovod keeps them, and who waits for this rank would wait for its time-out, 30 s.
            hang_up(connections)
            # Horovod ends a process that does not find the others again, with all that it holds.
            if engine.rank == 0:
                member.save_alone()
        if ending != "regrouping":
            engine.close()
            return ending
        member.let_go()
        hvd.shutdown()
        # Horovod's optimizer and its hooks hold each other, and with them all gradients.
        gc.collect()


class HostChanges:
    """A stop that is also requested when hosts come or go; Horovod tells it to rank 0."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._is_listening = False
        self.is_pending = False

    def listen(self) -> None:
        """Tell the launcher where this rank can be told of changes; only ranks that joined can."""
        if not self._is_listening:
            notification_manager.init()
            notification_manager.register_listener(self)
            self._is_listening = True

    def on_hosts_updated(self, timestamp: int, change: int) -> None:  # noqa: ARG002 (Horovod calls)
        self.is_pending = True

    @property
    def is_requested(self) -> bool:
        return self.is_pending or self._stop.is_requested

    @property
    def is_final(self) -> bool:
        return self._stop.is_final


def share_newest(engine: HorovodEngine, own: State | None) -> State | None:
    """Return the state of the rank that got furthest; None where no rank has one."""
    position = own["position"] if own else None
    progress = (position["images"], position["images_at_evaluation"]) if position else (-1, -1)
    of_ranks = engine.broadcast(engine.gather(progress))
    furthest = of_ranks.index(max(of_ranks))
    if of_ranks[furthest] == (-1, -1):
        return None
    return engine.broadcast(own, root=furthest)
