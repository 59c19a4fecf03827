"""The workers of a job, as the head knows them: who has come, and how each is reached."""

import time
from typing import Callable, Dict, List, NamedTuple, Optional, Set

from .door import Arrival, Door, read_ready, welcome
from .errors import Ending, EntrypointError, StopAsked
from .host import Host
from .launcher import find_program
from .mpirun import RemoteShell
from .say import say
from .signals import StopSignals
from .ssh_client import Worker, write_client_files
from .ssh_key import make_key, public_key
from .timing import Timing
from .wire import Link, LinkLost, Message, Pulse

OpenDoor = Callable[[Callable[[Arrival], None], Callable[[str, str], None]], Door]
"""Opens it, given what is told of a worker that was let in, and of one that can be no part of the
job, with the reason."""


class Approach(NamedTuple):
    """How head and workers meet."""

    open_door: OpenDoor
    identity: Optional[str] = None
    """File of the private key that the workers let in; None: one is made, and told to them."""
    wait_s: Optional[float] = None
    """How long the head waits for them; None: however long it takes."""
    takes_another: bool = False
    """Whether another worker comes in place of one that leaves before the ranks start."""


class Crew:
    """Args:
    host: The head.
    approach: How the workers are met.
    uses_ssh: Whether ranks are started over SSH.
    timing: How long things may take.
    on_output: Takes what ranks of other hosts print; called by threads.
    """

    def __init__(
        self,
        host: Host,
        approach: Approach,
        *,
        uses_ssh: bool,
        timing: Timing,
        on_output: Callable[[int, bytes], None],
    ) -> None:
        self._host = host
        self._workers = host.job.workers
        self._approach = approach
        self._timing = timing
        self._uses_ssh = uses_ssh
        self._on_output = on_output
        self._links: Dict[str, Link] = {}
        self._pulses: List[Pulse] = []
        self._gone: Set[str] = set()
        self._arrivals: Dict[str, Arrival] = {}
        self._ready: Dict[str, Optional[Worker]] = {}
        self._door: Optional[Door] = None
        self._identity: Optional[str] = None
        self._told_key: Optional[str] = None

    # They come

    def open(self) -> None:
        """Let them in from now on. Raises: EntrypointError."""
        if not self._workers:
            return
        if self._uses_ssh:
            self._identity = self._approach.identity or self._make_key()
        self._door = self._approach.open_door(self._tell_arrival, self._tell_misfit)

    def _make_key(self) -> str:
        key = make_key(self._host.folder, "head_key", find_program("ssh-keygen"))
        self._told_key = public_key(key)
        return key

    def wait(self, stop: StopSignals) -> None:
        """Wait until every worker is ready.

        Raises:
            StopAsked: The job is to stop.
            EntrypointError: One cannot take part, or has not come in time.
        """
        begin = time.monotonic()
        next_note = begin + self._timing.note_s
        while self._late():
            if stop.count:
                raise StopAsked()
            event = self._host.next_event()
            if event is not None:
                self._take(event)
            now, wait_s = time.monotonic(), self._approach.wait_s
            if wait_s is not None and now > begin + wait_s and self._late():
                raise EntrypointError(f"not all workers came in {wait_s:g} s: {self._whom()}")
            if now > next_note:
                next_note += self._timing.note_s
                say(f"waiting for {self._whom()} since {now - begin:.0f} s")
        if self._door is not None:
            self._door.close()
            self._door = None

    def _late(self) -> List[str]:
        return [worker for worker in self._workers if worker not in self._ready]

    def _whom(self) -> str:
        return ", ".join(
            f"{worker}{self._door.why(worker) if self._door is not None else ''}"
            for worker in self._late()
        )

    def _tell_arrival(self, arrival: Arrival) -> None:
        self._host.tell({"kind": "arrived", "host": arrival.host, "arrival": arrival})

    def _tell_misfit(self, host: str, why: str) -> None:
        self._host.tell({"kind": "failed", "host": host, "reason": why})

    def _take(self, event: Message) -> None:
        host, kind = str(event["host"]), event["kind"]
        if kind == "arrived":
            self._welcome(event["arrival"])
        elif kind == "ready":
            arrival = self._arrivals[host]
            self._ready[host] = arrival.worker or read_ready(arrival, event)
            say(f"{host} is ready")
        elif kind == "failed":
            self._gone.add(host)
            raise EntrypointError(f"host {host}: {event['reason']}")
        elif kind == "stopping" and not self._approach.takes_another:
            raise StopAsked()
        elif kind == "stopping":
            self.drop(host)
        elif kind == "link_lost":
            # It may come again: nothing has been started.
            say(f"{host} is gone again: {event['reason']}")
            self.drop(host)

    def _welcome(self, arrival: Arrival) -> None:
        """Answer a worker, and listen to it from now on."""
        link = arrival.link
        if arrival.host in self._links:
            say(f"a second connection says it is {arrival.host}: refused")
            link.close()
            return
        link.limit_silence(self._timing.silence_s)
        try:
            link.send({**welcome(arrival, self._host.job), "head_key": self._told_key})
        except LinkLost:
            link.close()
            return
        self._links[arrival.host] = link
        self._arrivals[arrival.host] = arrival
        self._pulses.append(Pulse(link, self._timing.pulse_s))
        self._host.listen(arrival.host, link, self._on_output)

    # They are there

    def remote_shell(self) -> Optional[RemoteShell]:
        """Return how ranks are started on them; None where that takes no SSH."""
        if self._identity is None:
            return None
        servers = [server for server in self._ready.values() if server is not None]
        config = write_client_files(self._host.folder, self._identity, servers)
        return RemoteShell(find_program("ssh"), config)

    def pod(self, host: str) -> str:
        """Return which pod a worker that came is; empty where it is none."""
        return self._arrivals[host].pod

    def drop(self, host: str) -> None:
        link = self._links.pop(host, None)
        if link is not None:
            link.close()
        self._ready.pop(host, None)

    def send_all(self, message: Message) -> None:
        for link in list(self._links.values()):
            try:
                link.send(message)
            except LinkLost:
                # That it is lost is an event of its own.
                continue

    # They leave

    def dismiss(self, ending: Ending) -> None:
        """Tell them how the job ended, and wait until they have heard it."""
        if self._door is not None:
            self._door.end(ending)
        self.send_all({"kind": "exit", "code": ending.code, "reason": ending.reason})
        deadline = time.monotonic() + self._timing.farewell_s
        while self._unaware() and time.monotonic() < deadline:
            event = self._host.next_event()
            if event is not None and event["kind"] == "arrived":
                # It was let in just before the end.
                event["arrival"].link.close()
            elif event is not None and event["kind"] == "link_lost":
                self.drop(str(event["host"]))
                self._gone.add(str(event["host"]))
            elif event is not None and event["kind"] == "failed":
                # Sent away, if it is not one that says so on its connection.
                self._gone.add(str(event["host"]))
        if self._door is not None:
            self._door.close()
        for pulse in self._pulses:
            pulse.stop()
        for link in self._links.values():
            link.close()

    def _unaware(self) -> bool:
        """Return whether a worker has not heard of the end, or has not come yet."""
        late = set() if self._door is None else set(self._workers) - self._gone
        return bool(self._links or late)
