"""Gets the workers of a job: has the group grow, and waits until they are there."""

from __future__ import annotations

import time
from collections.abc import Callable

from node.aws_cli import AwsError
from node.config import NodeConfig
from node.discovery.find import Discovery
from node.registrations import Registration

from .nodes import Nodes
from .request import Request
from .scaling import Scaling, TooManyError
from .state import now


class NotEnough(Exception):
    """The workers did not come; the message says how many did, and what is known of the others."""


class Gathering:
    """Args:
    config: The cluster.
    request: The job.
    scaling: The worker group.
    nodes: Its nodes.
    say: Told what is waited for.
    look: Called again and again; raises to end the wait.
    """

    def __init__(
        self,
        *,
        config: NodeConfig,
        request: Request,
        scaling: Scaling,
        nodes: Nodes,
        say: Callable[[str], None],
        look: Callable[[], None],
    ) -> None:
        self._config = config
        self._request = request
        self._scaling = scaling
        self._nodes = nodes
        self._say = say
        self._look = look

    def run(self) -> list[Registration]:
        """Return the workers, as many as the job wants; fewer only of an elastic one, in time.

        Raises:
            NotEnough: They did not come within `workers_wait_s`.
        """
        request, began = self._request, now()
        deadline = time.monotonic() + request.workers_wait_s
        told, grown = "", False
        while True:
            self._look()
            if not grown:
                grown = self._grow()
            # One that has just gone may still be in the answer of before.
            latest = self._nodes.refresh(30)
            workers = _workers(latest)
            if len(workers) >= request.workers:
                return workers[: request.workers]
            if time.monotonic() > deadline:
                break
            text = f"{len(workers)} of {request.workers} workers are there"
            if text != told:
                told = text
                self._say(f"waits for workers: {text}")
        if request.is_elastic and len(workers) >= request.least_workers:
            self._say(f"starts with {len(workers)} of {request.workers} workers")
            return workers
        raise NotEnough(self._explain(latest, len(workers), began))

    def _grow(self) -> bool:
        try:
            size = self._scaling.grow(self._request.workers)
        except TooManyError as error:
            raise NotEnough(str(error)) from error
        except AwsError as error:
            self._say(f"the worker group cannot be asked: {error}")
            return False
        self._say(f"the worker group {self._config.worker_group} wants {size} workers")
        return True

    def _explain(self, latest: Discovery | None, count: int, began: str) -> str:
        request = self._request
        least = f"at least {request.least_workers} of " if request.is_elastic else ""
        parts = [
            f"{count} of {request.workers} workers came within {request.workers_wait_s} s, and "
            f"the job needs {least}{request.workers}"
        ]
        try:
            reasons = self._scaling.activities(began)
        except AwsError as error:
            reasons = [f"its activities cannot be asked for: {error}"]
        if reasons:
            parts.append(f"the group {self._config.worker_group} says: {reasons[0]}")
        left_out = (latest.left_out if latest else ())[:5]
        return "; ".join([*parts, *(f"{out.instance_id} {out.reason}" for out in left_out)])


def _workers(latest: Discovery | None) -> list[Registration]:
    hosts = latest.hosts if latest else ()
    return [host for host in hosts if host.role == "worker" and host.slots > 0]
