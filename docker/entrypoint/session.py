"""`session`: joins an SSH session of the head with this host's own entry point.

So the connection between the launcher of a pod and its workers is SSH's: both sides have shown that
they hold the job's key, and nobody else hears what goes over it.
"""

import os
import socket
import threading
from typing import Mapping

from .errors import DONE, FAILED

CONTROL_VARIABLE = "MASK_RCNN_CONTROL_SOCKET"
"""Path of the entry point's socket; the SSH server of a worker gives it to each session."""


def run_session(environ: Mapping[str, str]) -> int:
    """Pass on what comes, both ways, until either side ends."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(environ[CONTROL_VARIABLE])
    except (KeyError, OSError):
        # This worker has a head already, or is between two; whoever calls tries again.
        return FAILED
    threading.Thread(target=_copy, args=(0, connection.fileno()), daemon=True).start()
    _copy(connection.fileno(), 1)
    return DONE


def _copy(source: int, target: int) -> None:
    """Copy until a side ends; then this process has nothing left to do."""
    try:
        while True:
            data = os.read(source, 1 << 16)
            if not data:
                break
            while data:
                data = data[os.write(target, data) :]
    except OSError:
        pass
    os._exit(DONE)
