"""The local socket to which the ranks of this host come for their orders."""

import os
import socket
import threading
from typing import Any, Callable, Dict, List, Mapping, NamedTuple

from .wire import Link, LinkLost, Output


class Order(NamedTuple):
    """What a rank is to run."""

    argv: List[str]
    environment: Mapping[str, str]
    good: List[int]
    """Exit codes of a rank that the launcher need not hear of as failures."""
    prints: bool = False
    """Whether what a rank prints goes to the launcher, rather than to this host."""
    settled: Mapping[str, str] = {}
    """Variables that count more than those that the launcher gives."""


class RankServer:
    """Gives each rank its order, and passes on what becomes of it.

    Args:
        path: Of the socket, in a folder that is this user's alone.
        order: What every rank here runs.
        on_event: Called by threads with `rank_started`, `rank_ended` (`code`) or `rank_lost`.
        on_output: Called by threads with a rank and what it printed.
    """

    def __init__(
        self,
        path: str,
        order: Order,
        on_event: Callable[[Dict[str, Any]], None],
        on_output: Callable[[int, bytes], None],
    ) -> None:
        self.path = path
        self._order = order
        self._on_event = on_event
        self._on_output = on_output
        self._links: Dict[int, Link] = {}
        self._lock = threading.Lock()
        self._is_terminating = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(path)
        os.chmod(path, 0o600)
        self._socket.listen(256)
        threading.Thread(target=self._accept, daemon=True).start()

    def terminate(self) -> None:
        """Send SIGTERM to the ranks of this host, and to those that come still."""
        with self._lock:
            # Once: a trainer may take a second one for an order to end at once.
            links = [] if self._is_terminating else list(self._links.values())
            self._is_terminating = True
        for link in links:
            _try_send(link, {"kind": "terminate"})

    def close(self) -> None:
        self._socket.close()
        with self._lock:
            links = list(self._links.values())
        for link in links:
            link.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(Link(connection),), daemon=True).start()

    def _serve(self, link: Link) -> None:
        try:
            hello = link.receive()
            if isinstance(hello, Output) or hello.get("kind") != "rank":
                return
            self._follow(link, int(hello["rank"]))
        except LinkLost:
            return
        finally:
            link.close()

    def _follow(self, link: Link, rank: int) -> None:
        with self._lock:
            self._links[rank] = link
        self._on_event({"kind": "rank_started", "rank": rank})
        try:
            link.send({"kind": "run", **self._order._asdict()})
            if self._is_terminating:
                link.send({"kind": "terminate"})
            while True:
                frame = link.receive()
                if isinstance(frame, Output):
                    self._on_output(frame.rank, frame.data)
                elif frame["kind"] == "ended":
                    self._on_event({"kind": "rank_ended", "rank": rank, "code": frame["code"]})
                    return
        except LinkLost:
            self._on_event({"kind": "rank_lost", "rank": rank})
        finally:
            with self._lock:
                self._links.pop(rank, None)


def _try_send(link: Link, message: Dict[str, Any]) -> None:
    try:
        link.send(message)
    except LinkLost:
        # Its own thread reports that the rank is lost.
        return
