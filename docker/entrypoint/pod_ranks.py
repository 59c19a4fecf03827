"""A worker of an elastic job in a pod: horovodrun starts ranks here, and ends them."""

import os
import time
from typing import Optional

from .errors import FAILED, STOPPED, Ending, EntrypointError
from .horovodrun import settled_variables
from .host import Host
from .meeting import Meeting
from .pod import SOCKETS
from .processes import exit_text, running_below
from .say import say
from .signals import StopSignals
from .timing import Timing
from .wire import LinkLost, Message, Pulse


class PodRanks:
    """One worker's part in an attempt.

    Args:
        host: This host.
        meeting: The launcher's call.
        timing: How long things may take.
        stop: Requests to stop that this pod got.
    """

    def __init__(self, host: Host, meeting: Meeting, timing: Timing, stop: StopSignals) -> None:
        self._host = host
        self._meeting = meeting
        self._timing = timing
        self._stop = stop
        self._leave_at: Optional[float] = None

    def run(self) -> Ending:
        """Serve until the launcher ends the attempt or is gone, or all ranks left after SIGTERM."""
        link = self._meeting.link
        pulse = Pulse(link, self._timing.pulse_s)
        try:
            self._host.listen(self._host.job.head, link, lambda _rank, _data: None)
            self._make_ready()
            return self._follow()
        except LinkLost as lost:
            return self._launcher_lost(str(lost))
        finally:
            pulse.stop()
            link.close()

    def _make_ready(self) -> None:
        link, job = self._meeting.link, self._host.job
        try:
            os.makedirs(SOCKETS, mode=0o700, exist_ok=True)
            settled = settled_variables(str(job.network_interface))
            self._host.adapter.prepare(job)
            self._host.serve_printing_ranks(os.path.join(SOCKETS, self._meeting.address), settled)
        except (EntrypointError, OSError) as error:
            link.send({"kind": "failed", "reason": str(error)})
            return
        link.send({"kind": "ready"})
        say(f"{job.current_host} is ready as {self._meeting.address}; the launcher is {job.head}")

    def _follow(self) -> Ending:
        while True:
            event = self._host.next_event()
            ending = self._take(event) if event is not None else None
            if ending is not None:
                return ending
            if self._stop.count and self._leave_at is None:
                say("SIGTERM: asks the launcher to let this host go")
                self._meeting.link.send({"kind": "stopping"})
                # It lets this host go, or has all ranks save.
                self._leave_at = time.monotonic() + self._timing.grace_s
            if self._leave_at is not None and self._has_left():
                return Ending(STOPPED, "stopped by SIGTERM")

    def _take(self, event: Message) -> Optional[Ending]:
        kind = event["kind"]
        if kind == "exit":
            return Ending(int(event["code"]), str(event["reason"]))
        if kind == "link_lost":
            return self._launcher_lost(str(event["reason"]))
        if kind == "process_ended":
            return Ending(FAILED, f"its SSH server {exit_text(int(event['code']))}")
        if kind == "rank_ended":
            say(f"rank {event['rank']} {exit_text(int(event['code']))}")
        elif kind == "terminate":
            self._host.terminate_ranks()
        elif kind == "kill":
            self._host.kill()
        return None

    def _has_left(self) -> bool:
        """Return whether no rank is left here, or there is no more time for them."""
        is_over = self._leave_at is not None and time.monotonic() > self._leave_at
        # The sessions too: they tell the launcher how the ranks ended.
        return is_over or self._stop.count > 1 or not set(running_below()) - self._host.spared

    def _launcher_lost(self, why: str) -> Ending:
        return Ending(FAILED, f"the launcher {self._host.job.head} is gone: {why}")
