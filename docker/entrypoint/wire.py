"""A connection that carries messages and ranks' output, in frames.

A frame is its kind (one byte), the length of its payload (4 bytes, network order) and the payload:
JSON for a message; a rank (4 bytes, signed) and raw bytes for output. Both the connection between
hosts and the one between a rank and its host speak it.
"""

import json
import select
import socket
import struct
import threading
from typing import Any, Dict, NamedTuple, Optional, Union

Message = Dict[str, Any]

_HEADER = struct.Struct("!BI")
_RANK = struct.Struct("!i")
_MESSAGE, _OUTPUT = 1, 2
MOST_BYTES = 1 << 20
"""Of a payload. A peer that announces more speaks something else."""
ALIVE: Message = {"kind": "alive"}
"""A sign of life, which `receive` swallows."""


class LinkLost(Exception):
    """The connection is of no use any more; the message says why."""


class Output(NamedTuple):
    """What a rank printed, as it came: neither whole lines nor valid UTF-8."""

    rank: int
    data: bytes


class Link:
    """One end of a connection. Threads may send at the same time; one receives."""

    def __init__(self, connection: socket.socket, silence_s: Optional[float] = None) -> None:
        """
        Args:
            connection: A connected stream socket.
            silence_s: The peer counts as gone when nothing comes for so long; None: never.
        """
        connection.setblocking(True)
        self._connection = connection
        self._silence_s = silence_s
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def send(self, message: Message) -> None:
        """Raises: LinkLost."""
        self._send(_MESSAGE, json.dumps(message).encode("utf-8"))

    def send_output(self, rank: int, data: bytes) -> None:
        """Raises: LinkLost."""
        for begin in range(0, len(data), MOST_BYTES // 2):
            piece = data[begin : begin + MOST_BYTES // 2]
            self._send(_OUTPUT, _RANK.pack(rank) + piece)

    def receive(self) -> Union[Message, Output]:
        """Wait for the next frame, but for signs of life.

        Raises:
            LinkLost: The peer closed, vanished, or sent what is no frame.
        """
        while True:
            kind, length = _HEADER.unpack(self._read(_HEADER.size))
            if length > MOST_BYTES:
                raise LinkLost("it sent something that is no message of ours")
            payload = self._read(length)
            if kind == _OUTPUT and length >= _RANK.size:
                return Output(_RANK.unpack_from(payload)[0], payload[_RANK.size :])
            message = _parse(payload) if kind == _MESSAGE else None
            if message is None:
                raise LinkLost("it sent something that is no message of ours")
            if message != ALIVE:
                return message

    def limit_silence(self, silence_s: Optional[float]) -> None:
        self._silence_s = silence_s

    def close(self) -> None:
        """Close; a thread that waits in `receive` or `send` is woken."""
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()

    def _send(self, kind: int, payload: bytes) -> None:
        try:
            with self._lock:
                self._connection.sendall(_HEADER.pack(kind, len(payload)) + payload)
        except OSError as error:
            raise LinkLost(f"its connection broke ({error.strerror or error})")

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = self._read_some(size)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        wait_ms = None if self._silence_s is None else self._silence_s * 1000
        try:
            # The time counts only while this host waits, not while it is busy with what came.
            if not self._poll.poll(wait_ms):
                raise LinkLost(f"there was no sign of life from it for {self._silence_s:g} s")
            data = self._connection.recv(size)
        except (OSError, ValueError) as error:
            raise LinkLost(f"its connection broke ({getattr(error, 'strerror', None) or error})")
        if not data:
            raise LinkLost("its connection closed")
        return data


def _parse(payload: bytes) -> Optional[Message]:
    try:
        message = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and "kind" in message else None


class Pulse:
    """Sends signs of life until it is stopped or the link is lost."""

    def __init__(self, link: Link, every_s: float) -> None:
        self._stopped = threading.Event()
        self._link = link
        self._every_s = every_s
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._every_s):
            try:
                self._link.send(ALIVE)
            except LinkLost:
                return
