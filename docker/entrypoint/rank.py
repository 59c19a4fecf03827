"""`rank`: starts one rank, passes on what it prints, and tells how it ended.

mpirun, torchrun, smddprun or horovodrun start this on every host. What to run comes from the
host's own entry point over a local socket, never from a command line: on a remote host a shell
reads that.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import Dict, List, Mapping, Optional

from .processes import die_with_parent, exit_text
from .wire import Link, LinkLost, Output

SOCKET_VARIABLE = "MASK_RCNN_RANK_SOCKET"
"""Path of the local entry point's socket."""

SOCKETS_VARIABLE = "MASK_RCNN_RANK_SOCKETS"
"""A folder of such sockets, each named as its host, where the launcher gives every rank the same
variables: horovodrun does."""

_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "RANK", "HOROVOD_RANK")
"""Open MPI 4, its successors, torchrun, horovodrun."""

_OF_SESSION = frozenset(
    [
        "HOME",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "MAIL",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHELL",
        "SHLVL",
        "TERM",
        "USER",
        "_",
    ]
)
"""Variables of an SSH session, where the container's own count."""

_DRAIN_S = 2
"""A rank has ended: time for its last output, since a child of it may hold the pipe open."""


def run_rank(environ: Mapping[str, str]) -> int:
    """Run a rank to its end.

    Returns:
        What the launcher is to see: a rank that stopped with a checkpoint ended well.
    """
    link = _connect(environ)
    link.send({"kind": "rank", "rank": rank_of(environ), "pid": os.getpid()})
    try:
        order = link.receive()
    except LinkLost:
        return 1
    if isinstance(order, Output) or order.get("kind") != "run":
        return 1
    rank = _Rank(link, rank_of(environ), prints=bool(order["prints"]))
    environment = {**rank_environment(order["environment"], environ), **order["settled"]}
    code = rank.run(order["argv"], environment)
    return 0 if code in order["good"] else (code if code > 0 else 128 - code)


def rank_of(environ: Mapping[str, str]) -> int:
    """Return the number that the launcher gave."""
    for name in _RANK_VARIABLES:
        if environ.get(name, "").isdigit():
            return int(environ[name])
    raise SystemExit(f"none of {', '.join(_RANK_VARIABLES)} is set: start ranks by a launcher")


def rank_environment(of_host: Mapping[str, str], inherited: Mapping[str, str]) -> Dict[str, str]:
    """Return the variables of a rank: those of its host, and what the launcher added."""
    added = {
        name: value
        for name, value in inherited.items()
        if name not in _OF_SESSION and not name.startswith("SSH_")
    }
    environment = {**of_host, **added}
    environment.pop(SOCKET_VARIABLE, None)
    environment.pop(SOCKETS_VARIABLE, None)
    return environment


def _connect(environ: Mapping[str, str]) -> Link:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(_socket_path(environ))
    return Link(connection)


def _socket_path(environ: Mapping[str, str]) -> str:
    if SOCKETS_VARIABLE in environ:
        return os.path.join(environ[SOCKETS_VARIABLE], environ["HOROVOD_HOSTNAME"])
    return environ[SOCKET_VARIABLE]


class _Rank:
    """A running rank, and what its host wants of it."""

    def __init__(self, link: Link, number: int, *, prints: bool) -> None:
        self._link = link
        self._number = number
        self._prints = prints
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._is_stop_asked = False

    def run(self, argv: List[str], environment: Mapping[str, str]) -> int:
        """Return the exit code, negative for a signal."""
        # The launcher's own wish to stop is passed on; only the rank knows what to save first.
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._terminate())
        try:
            self._process = subprocess.Popen(
                argv,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  (no thread runs yet)
            )
        except (OSError, ValueError) as error:
            self._tell_output(f"{argv[0]}: cannot be started ({error})\n".encode())
            return self._end(127)
        if self._is_stop_asked:
            self._terminate()
        copier = threading.Thread(target=self._copy_output, args=(self._process,), daemon=True)
        copier.start()
        threading.Thread(target=self._obey, daemon=True).start()
        code = self._process.wait()
        copier.join(_DRAIN_S)
        return self._end(code)

    def _copy_output(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        while True:
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return
            self._tell_output(data)

    def _obey(self) -> None:
        """Do what the host says; without a host there is nobody to train for."""
        while True:
            try:
                order = self._link.receive()
            except LinkLost:
                self._signal(signal.SIGKILL)
                return
            if not isinstance(order, Output) and order["kind"] == "terminate":
                self._terminate()

    def _terminate(self) -> None:
        self._is_stop_asked = True
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            try:
                os.kill(self._process.pid, number)
            except OSError:
                return

    def _tell_output(self, data: bytes) -> None:
        if self._prints:
            self._print(data)
            return
        try:
            self._link.send_output(self._number, data)
        except LinkLost:
            # Seen by `_obey` too, which ends the rank.
            return

    def _print(self, data: bytes) -> None:
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError:
            # The launcher's connection is gone, but the rank may still be one among others.
            return

    def _end(self, code: int) -> int:
        try:
            self._link.send({"kind": "ended", "code": code})
        except LinkLost:
            sys.stderr.write(f"rank {self._number} {exit_text(code)}\n")
        return code
