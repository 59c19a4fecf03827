"""The head: gathers the workers, starts the ranks, follows them, and decides how the job ended."""

import time
from typing import Callable, Dict, Optional

from .crew import Approach, Crew
from .errors import FAILED, STOPPED, Ending, EntrypointError, StopAsked
from .failure import failure_text
from .host import Host
from .launcher import Launcher, launch_command
from .output import LAUNCHER, JobOutput
from .record import write_outcome
from .say import say
from .signals import StopSignals
from .timing import Timing
from .verdict import Verdict
from .wire import Message


class Head:
    """The head's part in a job.

    Args:
        host: This host.
        launcher: What starts the ranks.
        approach: How it meets the workers.
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
        approach: Approach,
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
        self.lost: Dict[str, str] = {}
        """Workers that were lost, or asked to stop, while ranks ran, and their pods."""
        self._grace_until: Optional[float] = None
        self._stops_seen = 0
        self._is_second_stop = False
        launching = self._job.hosts if launcher.on_every_host else [self._job.head]
        self._crew = Crew(
            host,
            approach,
            uses_ssh=not launcher.on_every_host,
            timing=timing,
            on_output=output.write,
        )
        self._verdict = Verdict(self._job, launcher.name, launching)

    def run(self) -> Ending:
        """Run the job to its end, the same on every host."""
        try:
            ending = self._run_ranks()
        except StopAsked:
            ending = Ending(STOPPED, "stopped by SIGTERM before the ranks had started")
        except (EntrypointError, OSError) as error:
            ending = Ending(FAILED, str(error))
        self._crew.send_all({"kind": "kill"})
        self._host.kill()
        self._output.close()
        ending = self._keep(ending)
        self._crew.dismiss(ending)
        return ending

    def _run_ranks(self) -> Ending:
        self._crew.open()
        self._make_ready()
        self._crew.wait(self._stop)
        self._launch()
        self._follow()
        return self._judge()

    def _make_ready(self) -> None:
        """Be ready for ranks of this host; a host that only starts the others' has none."""
        if not self._host.adapter.has_outcome:
            write_outcome(self._job, None)
        if self._job.current_host in self._job.hosts:
            self._host.serve_ranks(self._output.write)
        else:
            self._host.adapter.prepare(self._job)

    def _launch(self) -> None:
        argv = launch_command(self._job, self._launcher, self._crew.remote_shell())
        say(f"starts {self._job.world_size} rank(s): {' '.join(argv)}")
        if self._launcher.on_every_host:
            self._crew.send_all({"kind": "start"})
        self._host.start_launcher(self._launcher.name, argv, self._output.write)

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
            self.lost[host] = self._crew.pod(host)
            self._crew.drop(host)
        elif kind == "failed":
            verdict.host_failed(host, str(event["reason"]))
        elif kind == "stopping":
            self.lost[host] = self._crew.pod(host)
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
            if self._job.launcher is not None:
                # Whoever stops a job may ask its launcher alone.
                self._crew.send_all({"kind": "terminate"})
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
        if not adapter.has_outcome:
            write_outcome(self._job, ending)
        if not ending.is_failure:
            return ending
        failure = self._verdict.failure
        rank = failure.rank if failure is not None and failure.rank is not None else LAUNCHER
        whose = f"rank {rank}" if rank != LAUNCHER else self._launcher.name
        return Ending(ending.code, failure_text(ending.reason, whose, self._output.last(rank)))
