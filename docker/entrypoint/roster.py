"""The workers of an elastic job in pods: who can be used now."""

import time
from typing import Dict, List, Optional, Set

from .crew import Approach
from .door import Arrival, Door, welcome
from .elastic_settings import Listed
from .errors import Ending, EntrypointError, StopAsked
from .host import Host
from .host_list import HostList
from .say import say
from .signals import StopSignals
from .timing import Timing
from .wire import Link, LinkLost, Message, Pulse


class Roster(HostList):
    """Args:
    host: The launcher.
    approach: How workers are met.
    least: Fewest processes to go on with.
    timing: How long things may take.
    """

    def __init__(self, host: Host, approach: Approach, least: int, timing: Timing) -> None:
        self._host = host
        self._approach = approach
        self._least = least
        self._timing = timing
        self._arrivals: Dict[str, Arrival] = {}
        self._pulses: Dict[str, Pulse] = {}
        self._ready: Set[str] = set()
        self._leaving: Dict[str, float] = {}
        self._let_go: Set[str] = set()
        self._listed: Optional[Listed] = None
        self._is_stopping = False
        self._has_recorder = False
        self.lost: Dict[str, str] = {}
        """Pods that were lost, or asked to stop, by the name of their host; not replaced yet."""
        self._door: Door = approach.open_door(self._tell_arrival, self._tell_misfit)

    def wait(self, stop: StopSignals) -> None:
        """Wait until all workers are ready, or enough of them and the others late.

        Raises:
            StopAsked: The job is to stop.
            EntrypointError: One cannot take part, or too few came in time.
        """
        begin = time.monotonic()
        next_note = begin + self._timing.note_s
        while self._late():
            if stop.count:
                raise StopAsked()
            event = self._host.next_event()
            if event is not None:
                if event["kind"] == "failed":
                    raise EntrypointError(f"host {event['host']}: {event['reason']}")
                self.take(event)
            now, wait_s = time.monotonic(), self._approach.wait_s
            has_enough = self._processes(self._ready) >= self._least
            if has_enough and now > begin + self._timing.together_s:
                return
            if wait_s is not None and not has_enough and now > begin + wait_s:
                raise EntrypointError(
                    f"{self._processes(self._ready)} of at least {self._least} processes were "
                    f"ready in {wait_s:g} s: {self._whom()}"
                )
            if now > next_note:
                next_note += self._timing.note_s
                say(f"waiting for {self._whom()} since {now - begin:.0f} s")

    def newest(self) -> Optional[Listed]:
        self._look_at_leaving()
        usable = [host for host in self._host.job.hosts if host in self._ready - self._let_go]
        arrivals = [self._arrivals[host] for host in usable]
        slots = self._host.job.processes_per_host
        # By address: Horovod does not use a name whose process was lost for a while, and a pod that
        # comes in the place of another has its name.
        listed = Listed(
            [f"{arrival.address}:{slots}" for arrival in arrivals],
            [
                arrival.worker._replace(host=arrival.address)
                for arrival in arrivals
                if arrival.worker is not None
            ],
        )
        if listed == self._listed:
            return None
        self._listed = listed
        return listed

    def take(self, event: Message) -> None:
        host, kind = str(event["host"]), event["kind"]
        if kind == "arrived":
            self._welcome(event["arrival"])
        elif kind == "failed":
            # Sent away, or not able to serve: the others go on.
            say(f"{host} cannot take part: {event['reason']}")
            self._drop(host)
        elif host not in self._arrivals:
            return
        elif kind == "ready":
            self._ready.add(host)
            self.lost.pop(host, None)
            say(f"{host} is ready")
        elif kind == "stopping":
            self._leaving.setdefault(host, time.monotonic())
        elif kind == "link_lost":
            say(f"{host} is out: {event['reason']}")
            self._drop(host)

    def stop(self) -> None:
        self._is_stopping = True
        self._send_all({"kind": "terminate"})

    def dismiss(self, ending: Ending) -> None:
        """Tell the workers how the attempt ended, and wait until they have heard it."""
        self._door.close()
        self._send_all({"kind": "exit", "code": ending.code, "reason": ending.reason})
        deadline = time.monotonic() + self._timing.farewell_s
        while self._arrivals and time.monotonic() < deadline:
            event = self._host.next_event()
            if event is not None and event["kind"] == "arrived":
                event["arrival"].link.close()
            elif event is not None and event["kind"] == "link_lost":
                self._drop(str(event["host"]))
        for host in list(self._arrivals):
            self._drop(host)

    def _look_at_leaving(self) -> None:
        """Let those go that are to stop; where too few are left, all save and stop.

        Not at once: whoever ends a whole job asks one pod after the other.
        """
        due = time.monotonic() - self._timing.settle_s
        if self._is_stopping or not any(since < due for since in self._leaving.values()):
            return
        left = self._ready - set(self._leaving)
        if self._processes(left) >= self._least:
            for host in set(self._leaving) - self._let_go:
                say(f"{host} was asked to stop: the others go on without it")
            self._let_go |= set(self._leaving)
            return
        names = ", ".join(self._leaving)
        say(f"{names} was asked to stop, and too few are left: all save and stop")
        self.stop()

    def _processes(self, hosts: Set[str]) -> int:
        return len(hosts) * self._host.job.processes_per_host

    def _late(self) -> List[str]:
        return [host for host in self._host.job.hosts if host not in self._ready]

    def _whom(self) -> str:
        return ", ".join(f"{host}{self._door.why(host)}" for host in self._late())

    def _tell_arrival(self, arrival: Arrival) -> None:
        self._host.tell({"kind": "arrived", "host": arrival.host, "arrival": arrival})

    def _tell_misfit(self, host: str, why: str) -> None:
        self._host.tell({"kind": "failed", "host": host, "reason": why})

    def _welcome(self, arrival: Arrival) -> None:
        link, host = arrival.link, arrival.host
        if host in self._arrivals:
            link.close()
            return
        link.limit_silence(self._timing.silence_s)
        told = {**welcome(arrival, self._host.job), "records": not self._has_recorder}
        if not _try_send(link, told):
            link.close()
            return
        self._has_recorder = True
        self._arrivals[host] = arrival
        self._pulses[host] = Pulse(link, self._timing.pulse_s)
        self._host.listen(host, link, lambda _rank, _data: None)

    def _drop(self, host: str) -> None:
        arrival = self._arrivals.pop(host, None)
        if arrival is None:
            return
        self.lost[host] = arrival.pod
        arrival.link.close()
        self._pulses.pop(host).stop()
        self._ready.discard(host)
        self._leaving.pop(host, None)
        self._let_go.discard(host)

    def _send_all(self, message: Message) -> None:
        for arrival in list(self._arrivals.values()):
            # That one is lost is an event of its own.
            _try_send(arrival.link, message)


def _try_send(link: Link, message: Message) -> bool:
    try:
        link.send(message)
    except LinkLost:
        return False
    return True
