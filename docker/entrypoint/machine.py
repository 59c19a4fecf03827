"""What runs on this machine, and everything that happens on it."""

import os
import queue
import shutil
import subprocess
import tempfile
import threading
from typing import Callable, Dict, List, Mapping, Optional, Set

from .output import LAUNCHER
from .processes import kill_all_below, reap_orphans
from .rank import SOCKET_VARIABLE
from .wire import Link, LinkLost, Message, Output

_DAEMON = "orted"
"""What mpirun starts on another host; it leaves its parent and falls to us."""


class Machine:
    """Processes that were started here, and events.

    Everything that happens, here or on a connection, is an event: a message with `host`, the name
    of the host that it is about. Threads put events in, the main thread takes them out.

    Args:
        name: Of this host.
        environ: The container's variables.
    """

    def __init__(self, name: str, environ: Mapping[str, str]) -> None:
        self._name = name
        self._environ = environ
        self._events: queue.Queue[Message] = queue.Queue()
        self._started: List[subprocess.Popen[bytes]] = []
        self.spared: Set[int] = set()
        """Processes that `kill` leaves: they carry the connections to other hosts."""
        self.folder = _make_folder()

    def tell(self, event: Message) -> None:
        self._events.put({"host": self._name, **event})

    def next_event(self, timeout_s: float = 0.2) -> Optional[Message]:
        """Wait for an event; None where there was none, so that others things can be looked at."""
        try:
            return self._events.get(timeout=timeout_s)
        except queue.Empty:
            for orphan in reap_orphans(self._started):
                # mpirun does not always notice that its daemon on another host was killed.
                if orphan.name == _DAEMON and orphan.code < 0:
                    self.tell({"kind": "process_ended", "name": _DAEMON, "code": orphan.code})
            return None

    def session_environment(self) -> Dict[str, str]:
        """Return what a session over SSH needs so that the ranks below it find their way."""
        names = ("PATH", "LD_LIBRARY_PATH")
        passed = {name: self._environ[name] for name in names if name in self._environ}
        return {
            **passed,
            # A bash that is not the first of its session leaves ~/.bashrc unread, which could print
            # into mpirun's talk with its daemon or change the ranks' variables.
            "SHLVL": "1",
            SOCKET_VARIABLE: os.path.join(self.folder, "ranks"),
        }

    def launch(
        self,
        name: str,
        argv: List[str],
        on_output: Callable[[int, bytes], None],
        environment: Mapping[str, str],
    ) -> None:
        """Start what starts the ranks."""
        process = subprocess.Popen(
            argv,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        thread = threading.Thread(target=_copy, args=(process, on_output), daemon=True)
        thread.start()
        self.watch(name, process, output=thread)

    def watch(
        self,
        name: str,
        process: "subprocess.Popen[bytes]",
        output: Optional[threading.Thread] = None,
    ) -> None:
        """Make an event of a process's end, `process_ended` with `name` and `code`."""
        self._started.append(process)

        def wait() -> None:
            code = process.wait()
            if output is not None:
                # Its last words; a process that it left behind may hold the pipe open.
                output.join(1)
            self.tell({"kind": "process_ended", "name": name, "code": code})

        threading.Thread(target=wait, daemon=True).start()

    def spare(self, process: "subprocess.Popen[bytes]") -> None:
        """Let `kill` leave a process that carries a connection to another host."""
        self._started.append(process)
        self.spared.add(process.pid)

    def forget(self, process: "subprocess.Popen[bytes]") -> None:
        """Such a process has ended."""
        self._started.remove(process)
        self.spared.discard(process.pid)

    def listen(self, host: str, link: Link, on_output: Callable[[int, bytes], None]) -> None:
        """Make events of what another host sends, and `link_lost` (`reason`) at its end."""

        def read() -> None:
            try:
                while True:
                    frame = link.receive()
                    if isinstance(frame, Output):
                        on_output(frame.rank, frame.data)
                    else:
                        self._events.put({**frame, "host": host})
            except LinkLost as lost:
                self._events.put({"kind": "link_lost", "host": host, "reason": str(lost)})

        threading.Thread(target=read, daemon=True).start()

    def kill(self) -> None:
        """End every process of the job on this host."""
        kill_all_below(self._started, spared=self.spared)

    def close(self) -> None:
        """End everything, and leave nothing."""
        self.spared = set()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _make_folder() -> str:
    """Make a folder of this user alone, for keys and sockets.

    Its path is short, since a socket's may have no more than 107 characters, and without blanks,
    since mpirun splits at them.
    """
    # /run is root's alone and in memory.
    place = "/run" if os.access("/run", os.W_OK) else "/tmp"  # noqa: S108
    return tempfile.mkdtemp(prefix="mask-rcnn-", dir=place)


def _copy(process: "subprocess.Popen[bytes]", on_output: Callable[[int, bytes], None]) -> None:
    assert process.stdout is not None
    while True:
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            return
        on_output(LAUNCHER, data)
