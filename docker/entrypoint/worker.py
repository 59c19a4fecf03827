"""A worker: lets the head start ranks here, follows them, and leaves with the head's exit code."""

import time
from typing import Callable, Optional

from .errors import FAILED, STOPPED, Ending, EntrypointError, JobOver, StopAsked
from .host import Host
from .launcher import Launcher, launch_command
from .meeting import Meeting
from .processes import exit_text
from .say import say
from .signals import StopSignals
from .sshd import Entrance, SshServer
from .timing import Timing
from .wire import Link, LinkLost, Message, Pulse

_SSHD = "sshd"
_OWN_NEWS = ("rank_started", "rank_ended", "rank_lost", "process_ended")


class Worker:
    """One worker's part in a job.

    Args:
        host: This host.
        launcher: What starts the ranks.
        timing: How long things may take.
        stop: Requests to stop that this host got.
        meet: Meets the head. Raises StopAsked, or JobOver.
    """

    def __init__(
        self,
        host: Host,
        launcher: Launcher,
        timing: Timing,
        stop: StopSignals,
        meet: Callable[[], Meeting],
    ) -> None:
        self._host = host
        self._meet = meet
        self._launcher = launcher
        self._timing = timing
        self._stop = stop
        self._stops_seen = 0
        self._leave_at: Optional[float] = None

    def run(self) -> Ending:
        """Take part until the head says how the job ended, or is gone."""
        try:
            meeting = self._meet()
        except StopAsked:
            return Ending(STOPPED, "stopped by SIGTERM before the head was there")
        except JobOver as over:
            return over.ending
        link = meeting.link
        pulse = Pulse(link, self._timing.pulse_s)
        try:
            self._host.listen(self._host.job.head, link, lambda _rank, _data: None)
            self._make_ready(meeting)
            return self._follow(link)
        except LinkLost as lost:
            return self._head_lost(str(lost))
        finally:
            pulse.stop()
            link.close()

    def _make_ready(self, meeting: Meeting) -> None:
        """Prepare, start the SSH server where the head asks for one, and say so."""
        link = meeting.link

        def pass_on(rank: int, data: bytes) -> None:
            try:
                link.send_output(rank, data)
            except LinkLost:
                # Seen by the thread that listens.
                return

        self._pass_on = pass_on
        try:
            self._host.serve_ranks(pass_on)
            ssh = None
            head_key = meeting.welcome.get("head_key")
            if head_key is not None:
                server = SshServer(
                    self._host.folder,
                    Entrance(str(head_key), meeting.head_address, meeting.address),
                    self._host.session_environment(),
                )
                self._host.watch(_SSHD, server.process)
                ssh = {"port": server.port, "user": server.user, "host_key": server.host_key}
        except EntrypointError as error:
            link.send({"kind": "failed", "reason": str(error)})
            return
        link.send({"kind": "ready", "ssh": ssh})
        job = self._host.job
        say(f"{job.current_host} is ready; the head is {meeting.head_address or job.head}")

    def _follow(self, link: Link) -> Ending:
        while True:
            event = self._host.next_event()
            ending = self._take(link, event) if event is not None else None
            if ending is not None:
                return ending
            self._look_at_signals(link)
            if self._leave_at is not None and time.monotonic() > self._leave_at:
                return Ending(STOPPED, "stopped by SIGTERM; the head did not end the job in time")

    def _take(self, link: Link, event: Message) -> Optional[Ending]:
        kind = event["kind"]
        if kind == "exit":
            return Ending(int(event["code"]), str(event["reason"]))
        if kind == "link_lost":
            return self._head_lost(str(event["reason"]))
        if kind == "process_ended" and event["name"] == _SSHD:
            reason = f"its SSH server {exit_text(event['code'])}"
            link.send({"kind": "failed", "reason": reason})
        elif kind in _OWN_NEWS:
            link.send(event)
        elif kind == "start":
            self._launch(link)
        elif kind == "terminate":
            self._host.terminate_ranks()
        elif kind == "kill":
            self._host.kill()
        return None

    def _launch(self, link: Link) -> None:
        try:
            argv = launch_command(self._host.job, self._launcher, None)
            self._host.start_launcher(self._launcher.name, argv, self._pass_on)
        except (EntrypointError, OSError) as error:
            link.send({"kind": "failed", "reason": str(error)})

    def _look_at_signals(self, link: Link) -> None:
        """The first SIGTERM lets the ranks save, a second one ends the job at once."""
        if self._stop.count == self._stops_seen:
            return
        self._stops_seen = self._stop.count
        is_first = self._leave_at is None
        link.send({"kind": "stopping" if is_first else "kill_asked"})
        if is_first:
            say("SIGTERM: the ranks of this host are asked to stop")
            self._host.terminate_ranks()
            # The head ends the job before that.
            self._leave_at = time.monotonic() + self._timing.grace_s + self._timing.farewell_s

    def _head_lost(self, why: str) -> Ending:
        return Ending(FAILED, f"the head {self._host.job.head} is gone: {why}")
