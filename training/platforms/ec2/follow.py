"""Follows a job on the cluster to its end, and judges how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from training.cli import log as console
from training.platforms.common.ending import conclude
from training.platforms.common.patience import Timer
from training.platforms.ec2.answer import HeadAway
from training.platforms.ec2.commands import how_to_follow, how_to_stop
from training.platforms.ec2.head import Head
from training.platforms.ec2.output import Output
from training.platforms.ec2.state import JobState, read_state
from training.platforms.watching import watching

LOOK_S = 5.0
"""Between two looks; each is one command of Systems Manager."""

HEAD_AWAY_S = 3600.0
"""How long a head node may be away: its group makes another within minutes, whose set-up takes a
while, and goes on with the job."""

LAST_LINES = 15
"""How many lines of a failed job a message shows."""

Tell = Callable[[str], None]
"""Takes a line for the user."""


def follow(
    head: Head, job_name: str, show: Tell, *, tell: Tell = console.print, timer: Timer | None = None
) -> None:
    """Show a job's lines until it has ended, and return where it completed.

    Neither a lost connection nor a head node that is replaced ends it.

    Args:
        show: Takes each line of the job.
        tell: Takes a line about the job, for the user.
        timer: Tells the time and waits.

    Raises:
        JobFailed: The job failed; the message has the reason and the last lines.
        JobCheckpointed: It was stopped, and may go on from a checkpoint.
        Interrupted: The user stopped watching, or somebody the job before its first checkpoint.
        UsageError: There is no such job.
        AwsError: The head node cannot be asked any more; the job goes on.
    """
    timer = timer or Timer()
    last: deque[str] = deque(maxlen=LAST_LINES)

    def shown(line: str) -> None:
        last.append(line)
        show(line)

    watch = _Watch(head, job_name, Output(head, job_name, shown), tell, timer)
    with watching(job_name, follow=how_to_follow(job_name), stop=how_to_stop(job_name)):
        ended = watch.until_the_end()
    conclude(ended, last_lines=list(last))


class _Watch:
    """One job that is watched."""

    def __init__(self, head: Head, job_name: str, output: Output, tell: Tell, timer: Timer) -> None:
        self._head = head
        self._job_name = job_name
        self._output = output
        self._tell = tell
        self._timer = timer
        self._told = ""
        self._away_since: float | None = None

    def until_the_end(self) -> JobState:
        """Show lines and stages until the job has ended and all is shown."""
        while True:
            ended = self._look()
            if ended is not None:
                return ended
            self._timer.sleep(LOOK_S)

    def _look(self) -> JobState | None:
        """Look once; return the job where it has ended.

        Raises:
            HeadAway: Nobody has answered for too long.
        """
        try:
            state = read_state(self._head.ask("status", {"name": self._job_name}))
            self._tell_stage(state)
            # After the state, so that what was written before the end is shown.
            self._output.look(is_last=state.has_ended)
        except HeadAway as error:
            self._bear(error)
            return None
        if self._away_since is not None:
            self._tell("the head node answers again")
            self._away_since = None
        return state if state.has_ended else None

    def _bear(self, error: HeadAway) -> None:
        now = self._timer.now()
        if self._away_since is None:
            self._away_since = now
            self._tell(f"{error}. The job goes on as soon as a head node is there: waiting for it")
        elif now - self._away_since > HEAD_AWAY_S:
            raise error

    def _tell_stage(self, state: JobState) -> None:
        """Tell how the job is doing, each time that it is another way."""
        said = f"{state.name}: {state.status}"
        if state.reason:
            said += f" ({state.reason})"
        if state.hosts:
            said += f", on {state.hosts} host(s)"
        if state.restarts:
            said += f", restarts: {state.restarts}"
        if said != self._told:
            self._tell(said)
            self._told = said
