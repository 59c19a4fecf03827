"""Whether a host answers on a TCP port.

`python3 -m node.reach HOST PORT SECONDS` waits until one does, and says what is missing if not.
"""

from __future__ import annotations

import errno
import selectors
import socket
import sys
import time
from collections.abc import Iterable, Iterator

from .errors import NodeError

_AT_ONCE = 256
"""Connections tried at once, below the 1,024 files that a process may have open."""
_PAUSE_S = 1.0
_CONNECT_S = 5.0


def open_ports(addresses: Iterable[str], port: int, *, timeout_s: float) -> set[str]:
    """Return the IPv4 addresses whose port takes a connection within so many seconds."""
    found: set[str] = set()
    remaining = list(dict.fromkeys(addresses))
    while remaining:
        chunk, remaining = remaining[:_AT_ONCE], remaining[_AT_ONCE:]
        found.update(_try(chunk, port, timeout_s))
    return found


def _try(addresses: list[str], port: int, timeout_s: float) -> Iterator[str]:
    with selectors.DefaultSelector() as waiting:
        try:
            for address in addresses:
                connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                waiting.register(connection, selectors.EVENT_WRITE, address)
                connection.setblocking(False)
                # EINPROGRESS; what fails at once is ready for writing too, and asked below.
                connection.connect_ex((address, port))
            deadline = time.monotonic() + timeout_s
            while waiting.get_map() and (left := deadline - time.monotonic()) > 0:
                for key, _ in waiting.select(left):
                    connection = key.fileobj  # type: ignore[assignment]
                    waiting.unregister(connection)
                    if _is_connected(connection):
                        yield key.data
                    connection.close()
        finally:
            for key in list(waiting.get_map().values()):
                key.fileobj.close()  # type: ignore[union-attr]


def _is_connected(connection: socket.socket) -> bool:
    if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        return False
    try:
        connection.getpeername()
    except OSError as error:
        return error.errno != errno.ENOTCONN
    return True


def wait_for(host: str, port: int, *, timeout_s: float) -> None:
    """Wait until a host's name resolves and its port takes a connection.

    Raises:
        NodeError: It did not within so many seconds; the message says which of the two.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        problem = _problem(host, port, max(0.1, min(_CONNECT_S, deadline - time.monotonic())))
        if not problem:
            return
        if time.monotonic() + _PAUSE_S >= deadline:
            raise NodeError(f"{problem} (tried for {timeout_s:g} s)")
        time.sleep(_PAUSE_S)


def _problem(host: str, port: int, timeout_s: float) -> str:
    try:
        socket.create_connection((host, port), timeout=timeout_s).close()
    except socket.gaierror:
        return f"the name {host} does not resolve"
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or error
        return f"port {port} of {host} cannot be reached: {reason}"
    return ""


def main(arguments: list[str]) -> int:
    host, port, seconds = arguments
    try:
        wait_for(host, int(port), timeout_s=float(seconds))
    except NodeError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
