"""The head's side of the meeting: lets the workers of a job in, and nobody else.

A worker connects, says its name, and is let in if the connection comes from an address that this
name resolves to. It gets the head's public key, and hands over the port and public host key of its
SSH server. The connection stays open until the job ends.
"""

import socket
import threading
from typing import Any, Callable, List, Optional, Set

from .addresses import plain, resolve
from .door import Arrival, Door
from .errors import FAILED, Ending, EntrypointError
from .job import Job
from .wire import Link, LinkLost, Message, Output

CONTROL_PORT = 7337
"""Where the head waits for its workers."""

_HELLO_S = 10
_MOST_STRANGERS = 64
"""Connections at a time that have not introduced themselves."""


def passport(job: Job) -> Message:
    """Return what must be the same on all hosts of a job."""
    return {
        "algorithm": job.algorithm,
        "distribution": job.distribution,
        "processes_per_host": job.processes_per_host,
        "hosts": job.hosts,
    }


class Gathering(Door):
    """Listens until it is closed.

    Args:
        workers: Names of the hosts that may come.
        passport: What must be the same on all hosts.
        on_arrival: Called by threads for each worker that was let in.
        on_misfit: Called by threads with a host that was sent away, and why it can be no part of
            this job.
        say: Told of connections that were refused.
    """

    def __init__(
        self,
        workers: List[str],
        passport: Message,
        on_arrival: Callable[[Arrival], None],
        on_misfit: Callable[[str, str], None],
        say: Callable[[str], None],
    ) -> None:
        self._workers = workers
        self._passport = passport
        self._ending: Optional[Ending] = None
        self._on_arrival = on_arrival
        self._on_misfit = on_misfit
        self._say = say
        self._strangers = threading.BoundedSemaphore(_MOST_STRANGERS)
        self._socket = _listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def end(self, ending: Ending) -> None:
        self._ending = ending

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            if not self._strangers.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._admit, args=(connection,), daemon=True).start()

    def _admit(self, connection: socket.socket) -> None:
        link = Link(connection, silence_s=_HELLO_S)
        try:
            address = plain(str(connection.getpeername()[0]))
            own = plain(str(connection.getsockname()[0]))
            hello = link.receive()
            if isinstance(hello, Output) or not {"host", "passport"} <= set(hello):
                raise LinkLost("it is no worker")
            host = str(hello["host"])
            reason = self._why_not(host, address)
            if reason is not None:
                self._say(reason)
                link.send({"kind": "refused", "reason": reason})
                link.close()
                return
            misfit = hello.get("failed") or difference(self._passport, hello["passport"])
            ending = self._ending
            if ending is None and misfit:
                ending = Ending(FAILED, f"host {host}: {misfit}")
            if ending is not None:
                link.send({"kind": "exit", "code": ending.code, "reason": ending.reason})
                link.close()
                self._on_misfit(host, str(misfit))
                return
            self._on_arrival(Arrival(host, link, address, own))
        except (LinkLost, OSError):
            link.close()
        finally:
            self._strangers.release()

    def _why_not(self, host: str, address: str) -> Optional[str]:
        """Return why a connection is refused, None where it is let in."""
        if host not in self._workers:
            known = ", ".join(self._workers)
            return f"{address} says it is {host[:80]!r}; the workers are {known}"
        try:
            allowed = resolve(host)
        except OSError as error:
            return f"{address} says it is {host}, whose name does not resolve here ({error})"
        if address not in allowed:
            return f"{address} says it is {host}, whose address is {', '.join(allowed)}: refused"
        return None


def turn_away(
    workers: List[str], ending: Ending, limit_s: float, say: Callable[[str], None]
) -> None:
    """Tell the workers that come within a time how the job has ended: else they would wait."""
    told: Set[str] = set()
    all_told = threading.Event()

    def tell(host: str, _why: str) -> None:
        told.add(host)
        if told >= set(workers):
            all_told.set()

    gathering = Gathering(workers, {}, lambda arrival: arrival.link.close(), tell, say)
    gathering.end(ending)
    all_told.wait(limit_s)
    gathering.close()


def _listen() -> socket.socket:
    """Listen on all addresses, whatever family the network has."""
    # Who comes is checked: _why_not.
    for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):  # noqa: S104
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listener.bind((address, CONTROL_PORT))
            listener.listen(256)
        except OSError as error:
            if family == socket.AF_INET:
                raise EntrypointError(
                    f"port {CONTROL_PORT}: cannot listen there ({error.strerror}), which workers "
                    "need to find the head"
                )
            continue
        return listener
    raise AssertionError("unreachable")


def difference(ours: Message, theirs: Any) -> Optional[str]:
    """Say what differs between the head's passport and a worker's."""
    theirs = theirs if isinstance(theirs, dict) else {}
    differing = [name for name in ours if ours[name] != theirs.get(name)]
    if not differing:
        return None
    return "; ".join(
        f"its {name} is {theirs.get(name)!r}, the head's {ours[name]!r}" for name in differing
    )
