"""The head: gathers the workers, starts the ranks, follows them, and decides how the job ended."""

import time
from typing import Callable, Dict, List, Optional, Set

from .errors import FAILED, STOPPED, Ending, EntrypointError, StopAsked
from .failure import failure_text
from .gathering import Arrival, Gathering, passport, read_ready
from .host import Host
from .launcher import Launcher, find_program, launch_command
from .mpirun import RemoteShell
from .output import LAUNCHER, JobOutput
from .say import say
from .signals import StopSignals
from .ssh_client import Worker, write_client_files
from .ssh_key import make_key, public_key
from .timing import Timing
from .verdict import Verdict
from .wire import Link, LinkLost, Message, Pulse


class Head:
    """The head's part in a job.

    Args:
        host: This host.
        launcher: What starts the ranks.
        output: Takes what they print.
        timing: How long things may take.
        stop: Requests to stop that this host got.
        keep: Keeps the results once the ranks are gone, and returns how the job ended after that.
    """

    def __init__(
        self,
        *,
        host: Host,
        launcher: Launcher,
        output: JobOutput,
        timing: Timing,
        stop: StopSignals,
        keep: Callable[[Ending], Ending],
    ) -> None:
        self._host = host
        self._job = host.job
        self._launcher = launcher
        self._output = output
        self._timing = timing
        self._stop = stop
        self._keep = keep
        self._links: Dict[str, Link] = {}
        self._pulses: List[Pulse] = []
        self._gone: Set[str] = set()
        self._arrivals: Dict[str, Arrival] = {}
        self._ready: Dict[str, Optional[Worker]] = {}
        self._key: Optional[str] = None
        self._grace_until: Optional[float] = None
        self._stops_seen = 0
        self._is_second_stop = False
        self._gathering: Optional[Gathering] = None
        launching = self._job.hosts if launcher.on_every_host else self._job.hosts[:1]
        self._verdict = Verdict(self._job, launcher.name, launching)

    def run(self) -> Ending:
        """Run the job to its end, the same on every host."""
        try:
            ending = self._run_ranks()
        except StopAsked:
            ending = Ending(STOPPED, "stopped by SIGTERM before the ranks had started")
        except (EntrypointError, OSError) as error:
            ending = Ending(FAILED, str(error))
        self._send_all({"kind": "kill"})
        self._host.kill()
        self._output.close()
        ending = self._keep(ending)
        self._dismiss(ending)
        return ending

    def _run_ranks(self) -> Ending:
        self._gather()
        self._launch()
        self._follow()
        return self._judge()

    # The workers come

    def _gather(self) -> None:
        """Wait until every worker is ready, however long that takes, and be ready oneself."""
        workers = self._job.hosts[1:]
        if workers and not self._launcher.on_every_host:
            self._key = make_key(self._host.folder, "head_key", find_program("ssh-keygen"))
        if workers:
            self._gathering = Gathering(
                workers, passport(self._job), self._tell_arrival, self._tell_misfit, say
            )
        self._host.serve_ranks(self._output.write)
        self._wait_for(workers)
        if self._gathering is not None:
            self._gathering.close()
            self._gathering = None

    def _tell_arrival(self, arrival: Arrival) -> None:
        self._host.tell({"kind": "arrived", "host": arrival.host, "arrival": arrival})

    def _tell_misfit(self, host: str, why: str) -> None:
        self._host.tell({"kind": "failed", "host": host, "reason": why})

    def _wait_for(self, workers: List[str]) -> None:
        begin = time.monotonic()
        next_note = begin + self._timing.note_s
        while any(worker not in self._ready for worker in workers):
            if self._stop.count:
                raise StopAsked()
            event = self._host.next_event()
            if event is not None:
                self._take_at_gathering(event)
            if time.monotonic() > next_note:
                next_note += self._timing.note_s
                late = [worker for worker in workers if worker not in self._ready]
                say(f"waiting for {', '.join(late)} since {time.monotonic() - begin:.0f} s")

    def _take_at_gathering(self, event: Message) -> None:
        host, kind = str(event["host"]), event["kind"]
        if kind == "arrived":
            self._welcome(event["arrival"])
        elif kind == "ready":
            self._ready[host] = read_ready(self._arrivals[host], event)
            say(f"{host} is ready")
        elif kind == "failed":
            self._gone.add(host)
            raise EntrypointError(f"host {host}: {event['reason']}")
        elif kind == "stopping":
            raise StopAsked()
        elif kind == "link_lost":
            # It may come again: nothing has been started.
            say(f"{host} is gone again: {event['reason']}")
            self._drop(host)

    def _welcome(self, arrival: Arrival) -> None:
        """Answer a worker, and listen to it from now on."""
        link = arrival.link
        if arrival.host in self._links:
            say(f"a second connection says it is {arrival.host}: refused")
            link.close()
            return
        link.limit_silence(self._timing.silence_s)
        try:
            link.send({"kind": "welcome", "head_key": self._key and public_key(self._key)})
        except LinkLost:
            link.close()
            return
        self._links[arrival.host] = link
        self._arrivals[arrival.host] = arrival
        self._pulses.append(Pulse(link, self._timing.pulse_s))
        self._host.listen(arrival.host, link, self._output.write)

    def _drop(self, host: str) -> None:
        link = self._links.pop(host, None)
        if link is not None:
            link.close()
        self._ready.pop(host, None)

    # The ranks run

    def _launch(self) -> None:
        remote = None
        servers = [server for server in self._ready.values() if server is not None]
        if self._key is not None:
            config = write_client_files(self._host.folder, self._key, servers)
            remote = RemoteShell(find_program("ssh"), config)
        argv = launch_command(self._job, self._launcher, remote)
        say(f"starts {self._job.world_size} rank(s): {' '.join(argv)}")
        if self._launcher.on_every_host:
            self._send_all({"kind": "start"})
        self._host.launch(self._launcher.name, argv, self._output.write)

    def _follow(self) -> None:
        """Take what happens until nothing is left to wait for."""
        begin = time.monotonic()
        bad_news_at: Optional[float] = None
        ended_at: Optional[float] = None
        verdict, timing = self._verdict, self._timing
        while not verdict.is_over:
            event = self._host.next_event()
            if event is not None:
                self._take(event)
            self._look_at_signals()
            now = time.monotonic()
            if verdict.failure is not None:
                bad_news_at = bad_news_at or now
                patience_s = timing.settle_s * (1 if verdict.is_cause_known else 5)
                if now > bad_news_at + patience_s:
                    return
            elif now > begin + timing.launch_s and verdict.missing_ranks:
                verdict.not_launched(timing.launch_s)
            elif verdict.all_ranks_ended:
                ended_at = ended_at or now
                if now > ended_at + timing.leave_s:
                    verdict.hung(timing.leave_s)
            if self._is_second_stop or (self._grace_until and now > self._grace_until):
                when = (
                    "when it came again" if self._is_second_stop else f"{timing.grace_s:g} s later"
                )
                verdict.cut_short(when)
                return

    def _take(self, event: Message) -> None:
        verdict, host, kind = self._verdict, str(event["host"]), event["kind"]
        if kind == "rank_started":
            verdict.rank_started(host, int(event["rank"]))
        elif kind == "rank_ended":
            verdict.rank_ended(host, int(event["rank"]), int(event["code"]))
        elif kind == "rank_lost":
            verdict.rank_lost(host, int(event["rank"]))
        elif kind == "process_ended":
            verdict.process_ended(host, str(event["name"]), int(event["code"]))
        elif kind == "link_lost":
            verdict.host_lost(host, str(event["reason"]))
            self._drop(host)
        elif kind == "failed":
            verdict.host_failed(host, str(event["reason"]))
        elif kind == "stopping":
            self._begin_stop(host)
        elif kind == "kill_asked":
            self._is_second_stop = True

    def _look_at_signals(self) -> None:
        """The first SIGTERM lets the ranks save, a second one ends the job at once."""
        if self._stop.count == self._stops_seen:
            return
        if self._stops_seen == 0:
            self._begin_stop(self._job.current_host)
            self._host.terminate_ranks()
        self._is_second_stop = self._is_second_stop or self._stop.count > 1
        self._stops_seen = self._stop.count

    def _begin_stop(self, host: str) -> None:
        saves = self._host.adapter.stops_with_checkpoint
        how = "save and stop, all ranks after the same step" if saves else "stop; they save nothing"
        say(f"SIGTERM to {host}: its ranks are asked to {how}")
        if self._verdict.stop_asked_by is None:
            self._verdict.stop_asked_by = host
            self._grace_until = time.monotonic() + self._timing.grace_s

    # The end

    def _judge(self) -> Ending:
        adapter = self._host.adapter
        outcome = adapter.outcome(self._job)
        ending = self._verdict.ending(outcome, has_outcome=adapter.has_outcome)
        if not ending.is_failure:
            return ending
        failure = self._verdict.failure
        rank = failure.rank if failure is not None and failure.rank is not None else LAUNCHER
        whose = f"rank {rank}" if rank != LAUNCHER else self._launcher.name
        return Ending(ending.code, failure_text(ending.reason, whose, self._output.last(rank)))

    def _dismiss(self, ending: Ending) -> None:
        """Tell the workers how the job ended, and wait until they have heard it."""
        if self._gathering is not None:
            self._gathering.end(ending)
        self._send_all({"kind": "exit", "code": ending.code, "reason": ending.reason})
        deadline = time.monotonic() + self._timing.farewell_s
        while self._unaware() and time.monotonic() < deadline:
            event = self._host.next_event()
            if event is not None and event["kind"] == "arrived":
                # It was let in just before the end.
                event["arrival"].link.close()
            elif event is not None and event["kind"] == "link_lost":
                self._drop(str(event["host"]))
                self._gone.add(str(event["host"]))
            elif event is not None and event["kind"] == "failed":
                # Sent away, if it is not one that says so on its connection.
                self._gone.add(str(event["host"]))
        if self._gathering is not None:
            self._gathering.close()
        for pulse in self._pulses:
            pulse.stop()
        for link in self._links.values():
            link.close()

    def _unaware(self) -> bool:
        """Return whether a worker has not heard of the end, or has not come yet."""
        late = set() if self._gathering is None else set(self._job.hosts[1:]) - self._gone
        return bool(self._links or late)

    def _send_all(self, message: Message) -> None:
        for link in self._links.values():
            try:
                link.send(message)
            except LinkLost:
                # That it is lost is an event of its own.
                continue
