"""This process's network connections, which a library below opened and does not show."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Connections = dict[int, str]
"""File descriptor to the socket behind it: a number is used again after it was closed."""


def open_connections() -> Connections:
    """Return all that are open now."""
    found: Connections = {}
    for entry in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):
            descriptor, behind = int(entry.name), str(entry.readlink())
            connection = socket.socket(fileno=descriptor)
            if connection.family in {socket.AF_INET, socket.AF_INET6}:
                found[descriptor] = behind
            connection.detach()
    return found


def watch(connections: Connections) -> None:
    """Have them fail within 15 seconds when the other end's host is gone without a word: no power,
    no network. A host that is only busy still answers."""
    _change(connections, _fail_soon)


def hang_up(connections: Connections) -> None:
    """Have the other ends see that nobody is here any more; the descriptors stay their owner's."""
    _change(connections, lambda connection: connection.shutdown(socket.SHUT_RDWR))


def _fail_soon(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 15_000)


def _change(connections: Connections, change: Callable[[socket.socket], None]) -> None:
    """Do something with those that are still open, and leave their descriptors open.

    Horovod's thread may close one at any moment, and one may have failed before: no error.
    """
    for descriptor, _ in connections.items() & open_connections().items():
        with suppress(OSError):
            connection = socket.socket(fileno=descriptor)
            try:
                change(connection)
            finally:
                connection.detach()
