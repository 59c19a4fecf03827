"""The launcher's side of the meeting of pods: calls each worker over SSH until it has answered.

A worker's name resolves once its pod runs, its server answers once it is ready, and both may take
as long as a node and an image do: what is missing is said, and tried again.
"""

import os
import socket
import subprocess
import sys
import threading
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional

from .addresses import resolve
from .door import Arrival, Door
from .errors import FAILED, Ending
from .gathering import difference
from .machine import Machine
from .pod import PORT, JobKey, Listed
from .ssh_client import Worker, write_client_files
from .timing import Timing
from .wire import Link, LinkLost, Message, Output

_ENTRYPOINT = os.path.dirname(os.path.abspath(__file__))
_SESSION = f"{sys.executable} {_ENTRYPOINT} session"
"""Run on the worker: the same image, so the same paths. A shell reads it there."""

_HELLO_S = 25
"""From the call to the worker's first word, its log-in included."""
_FAREWELL_S = 5


class Line(NamedTuple):
    """How calls are made."""

    machine: Machine
    ssh: str
    key: JobKey
    user: str
    """The same image has the same user everywhere."""


class Calls(Door):
    """Calls until it is closed.

    Args:
        line: How calls are made.
        workers: Whom to call.
        passport: What must be the same in all pods of a job.
        timing: How long things may take.
        refused: Pods that are not let in again, by the name of their host.
        on_arrival: Called by threads for each worker that answered.
        on_misfit: Called by threads with a host that can be no part of this job, and why.
    """

    def __init__(
        self,
        *,
        line: Line,
        workers: List[Listed],
        passport: Message,
        timing: Timing,
        refused: Mapping[str, str],
        on_arrival: Callable[[Arrival], None],
        on_misfit: Callable[[str, str], None],
    ) -> None:
        self._line = line
        self._passport = passport
        self._timing = timing
        self._refused = refused
        self._on_arrival = on_arrival
        self._on_misfit = on_misfit
        self._ending: Optional[Ending] = None
        self._closed = threading.Event()
        self._reasons: Dict[str, str] = {}
        for worker in workers:
            threading.Thread(target=self._keep_calling, args=(worker,), daemon=True).start()

    def end(self, ending: Ending) -> None:
        self._ending = ending

    def close(self) -> None:
        self._closed.set()

    def why(self, host: str) -> str:
        return f" ({self._reasons[host]})" if host in self._reasons else ""

    def _keep_calling(self, worker: Listed) -> None:
        while not self._closed.is_set():
            self._reasons[worker.host] = self._call(worker)
            self._closed.wait(self._timing.retry_s)

    def _call(self, worker: Listed) -> str:
        """Call once; return why it is not there (any more)."""
        try:
            address = resolve(worker.name)[0]
        except OSError as error:
            return f"the name {worker.name} does not resolve: {error.strerror}"
        server = Worker(
            host=worker.host,
            address=address,
            port=PORT,
            user=self._line.user,
            host_key=self._line.key.public,
            head_address=None,
        )
        call = _Call(self._line, server)
        try:
            self._let_in(call.link, server)
        except LinkLost as lost:
            call.hang_up()
            return call.said() or f"{address}: {lost}"
        call.wait()
        return "it was there, and is gone"

    def _let_in(self, link: Link, server: Worker) -> None:
        """Raises: LinkLost: It is no worker of this job, or not yet."""
        hello = link.receive()
        if isinstance(hello, Output) or not {"host", "passport"} <= set(hello):
            raise LinkLost("what answers there is no worker")
        if hello["host"] != server.host:
            # Names may be wrong for a while.
            raise LinkLost(f"it says that it is {hello['host']}")
        pod = str(hello.get("pod") or "")
        misfit = self._misfit(server.host, pod, hello)
        ending = self._ending
        if ending is None and misfit:
            ending = Ending(FAILED, f"host {server.host}: {misfit}")
        if ending is None:
            self._on_arrival(Arrival(server.host, link, server.address, None, server, pod))
            return
        link.send({"kind": "exit", "code": ending.code, "reason": ending.reason})
        _hear_out(link)
        self._on_misfit(server.host, str(misfit))
        raise LinkLost("it was sent away")

    def _misfit(self, host: str, pod: str, hello: Message) -> Optional[str]:
        if hello.get("failed"):
            return str(hello["failed"])
        if host in self._refused and self._refused[host] == pod:
            return (
                "it was lost, and is back in the same pod: its container ended by itself (for want "
                "of memory, say), or the connection to it broke"
            )
        return difference(self._passport, hello["passport"])


def _hear_out(link: Link) -> None:
    """Wait until the other side hangs up: it has read what was sent."""
    link.limit_silence(_FAREWELL_S)
    try:
        while True:
            link.receive()
    except LinkLost:
        return


class _Call:
    """A call that is under way: an SSH session, and the link that it carries."""

    def __init__(self, line: Line, worker: Worker) -> None:
        self._machine = line.machine
        folder = os.path.join(line.machine.folder, "calls", worker.host)
        os.makedirs(folder, exist_ok=True)
        config = write_client_files(folder, line.key.path, [worker])
        self._said = os.path.join(folder, "said")
        ours, theirs = socket.socketpair()
        with theirs, open(self._said, "wb") as said:
            self._process = subprocess.Popen(
                [line.ssh, "-F", config, worker.host, _SESSION],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=said,
                start_new_session=True,
            )
        line.machine.spare(self._process)
        self.link = Link(ours, silence_s=_HELLO_S)

    def wait(self) -> None:
        """Wait until it is over, whoever ends it."""
        self._process.wait()
        self._machine.forget(self._process)

    def hang_up(self) -> None:
        self.link.close()
        try:
            # Where it was refused, ssh is about to say so.
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self.wait()

    def said(self) -> str:
        """Return ssh's last line, which names address and reason."""
        with open(self._said, "rb") as file:
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""
