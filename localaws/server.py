"""The server's process, started by `localaws start`.

python -m localaws.server STATE_DIR PORT [hosts]
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import psutil
from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import make_server

from localaws import extensions, instance_signals, state
from localaws.cloudformation import background
from localaws.folders import StateDirectory
from localaws.gateway import Gateway
from localaws.hosts import fleet, instances
from localaws.inventory import take_inventory
from training.errors import ExitCode, TrainingError, UsageError

HOST = "127.0.0.1"
"""Never another: the server checks no credentials, so whoever reaches the port may do anything."""

PATIENCE_S = 30.0
"""How long requests on their way may take before the state is saved. A deployment is one of them:
cut off, its stack would be neither here nor there for ever."""

LOOK_S = 2.0
"""Time between two looks at whether the state directory is still there."""


class _RequestHandler(MotoRequestHandler):
    """Leaves successes out of the log: it is read when something went wrong."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        if str(code)[:1] not in "123":
            super().log_request(code, size)


def serve(directory: StateDirectory, port: int, *, hosts: bool) -> None:
    """Serve until SIGTERM or SIGINT, then save the state.

    Args:
        directory: The folder of this local AWS.
        port: On 127.0.0.1; 0 takes a free one.
        hosts: Whether EC2 instances are hosts that run.

    Raises:
        UsageError: The port or the folder is taken, or the kept state cannot be read.
    """
    with directory.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"{directory.root}: another local AWS uses this folder") from error
        # The port comes first: where it is taken, nothing has been loaded or changed.
        listener = _listen(port)
        endpoint = f"http://{HOST}:{listener.getsockname()[1]}"
        application = extensions.install(endpoint, directory.file_systems)
        state.load(directory.backends)
        gateway = Gateway(application, take_inventory)
        server = make_server(
            HOST,
            port,
            gateway,
            threaded=True,
            request_handler=_RequestHandler,
            fd=listener.fileno(),
        )
        stopping = _on_signals()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with _hosts(directory, gateway, listener.getsockname()[1]) if hosts else nullcontext():
            _write_record(directory.record, endpoint)
            while not stopping.wait(LOOK_S):
                if not directory.record.exists():
                    # The folder was removed: no command could find this process, or stop it,
                    # again.
                    return
            background.stop(PATIENCE_S)
        gateway.close(PATIENCE_S)
        if not directory.record.exists():
            # Stopped for good, which takes the record away first: nothing is to be kept.
            return
        state.save(directory.backends)
        # Last: `localaws stop` takes a record that is still there for a state that was not saved.
        directory.record.unlink(missing_ok=True)


@contextmanager
def _hosts(directory: StateDirectory, gateway: Gateway, port: int) -> Iterator[None]:
    """Make instances hosts that run, and say so to CloudFormation."""
    running = fleet.Fleet(gateway, port, directory.file_systems, directory.consoles)
    fleet.use(running)
    instance_signals.expect(True)
    try:
        instances.revive()
        yield
    finally:
        running.close()
        fleet.use(None)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A port in TIME_WAIT after a stop is free again.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise UsageError(
            f"--port {port}: cannot be used on {HOST} ({error.strerror}). Stop the program that "
            "has it, or choose another port (0: any free one)"
        ) from error
    listener.listen(128)
    return listener


def _on_signals() -> threading.Event:
    stopping = threading.Event()

    def stop(signum: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return stopping


def _write_record(path: Path, endpoint: str) -> None:
    """Say which process serves; its start time tells it from a later one with the same pid."""
    record = {
        "pid": os.getpid(),
        "create_time": psutil.Process().create_time(),
        "endpoint": endpoint,
    }
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(record), encoding="utf-8")
    aside.replace(path)


def main() -> None:
    try:
        serve(StateDirectory(Path(sys.argv[1])), int(sys.argv[2]), hosts="hosts" in sys.argv[3:])
    except TrainingError as error:
        # The parent shows the last line of the log to the user.
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    sys.exit(ExitCode.DONE)


if __name__ == "__main__":
    main()
