"""Follows a job on the EKS cluster to its end, and judges how it ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from training.cli import log as console
from training.kubernetes.errors import KubernetesError
from training.platforms.common.ending import conclude
from training.platforms.common.patience import Timer
from training.platforms.eks.commands import how_to_follow, how_to_stop
from training.platforms.eks.connection import Connection, may_pass
from training.platforms.eks.launcher_log import LauncherReader
from training.platforms.eks.looking import observe, require
from training.platforms.eks.observed import Pod
from training.platforms.eks.state import JobState, read_state
from training.platforms.watching import watching

LOOK_S = 10.0
"""Between two looks at the job; its lines come as they are written."""

LINES_S = 0.5
"""How long a wait for lines takes at most."""

SILENT_S = 3600.0
"""How long the API server may not answer."""

LATE_S = 20.0
"""How long the last lines of a job that has ended are waited for."""

LAST_LINES = 15
"""How many lines of a failed job a message shows."""

Tell = Callable[[str], None]
"""Takes a line for the user."""


def follow(
    connection: Connection,
    job_name: str,
    show: Tell,
    *,
    tell: Tell = console.print,
    timer: Timer | None = None,
) -> None:
    """Show a job's lines until it has ended, and return where it completed.

    Neither a lost connection nor a launcher that is started again ends it.

    Args:
        connection: To the cluster.
        job_name: The job.
        show: Takes each line of the job.
        tell: Takes a line about the job, for the user.
        timer: Tells the time and waits.

    Raises:
        JobFailed: The job failed; the message has the reason and the last lines.
        JobCheckpointed: It was stopped, and may go on from a checkpoint.
        Interrupted: The user stopped watching, or somebody the job before its first checkpoint.
        UsageError: There is no such job.
        AwsError: The cluster cannot be asked any more; the job goes on.
    """
    last: deque[str] = deque(maxlen=LAST_LINES)

    def shown(line: str) -> None:
        last.append(line)
        show(line)

    watch = _Watch(connection, job_name, shown, tell, timer or Timer())
    with watching(job_name, follow=how_to_follow(job_name), stop=how_to_stop(job_name)):
        try:
            ended = watch.until_the_end()
        finally:
            watch.end()
    if ended.leftovers:
        tell(f"{job_name}: {ended.message}")
    conclude(ended, last_lines=list(last))


class _Watch:
    """One job that is watched."""

    def __init__(
        self, connection: Connection, job_name: str, show: Tell, tell: Tell, timer: Timer
    ) -> None:
        self._connection = connection
        self._job_name = job_name
        self._reader = LauncherReader(connection.kubernetes)
        self._launchers: list[Pod] = []
        self._show = show
        self._tell = tell
        self._timer = timer
        self._told = ""
        self._silent_since: float | None = None

    def until_the_end(self) -> JobState:
        """Show lines and stages until the job has ended and all is shown."""
        next_look = self._timer.now()
        while True:
            if self._timer.now() >= next_look:
                state = self._look()
                if state is not None and state.has_ended:
                    self._show_the_rest()
                    return state
                next_look = self._timer.now() + LOOK_S
            self._show_lines()

    def end(self) -> None:
        """Read no further."""
        self._reader.end()

    def _look(self) -> JobState | None:
        """Look once; return the job, None where nobody answered.

        Raises:
            KubernetesError: Nobody has answered for too long, or the cluster refused for good.
        """
        try:
            observed = observe(self._connection, self._job_name)
            if observed is None:
                return require(self._connection, self._job_name, now=datetime.now(UTC))
            state = read_state(observed, now=datetime.now(UTC))
        except KubernetesError as error:
            if not may_pass(error):
                raise
            self._bear(error)
            return None
        if self._silent_since is not None:
            self._tell("the cluster answers again")
            self._silent_since = None
        self._tell_stage(state)
        self._launchers = observed.launchers
        self._reader.follow(self._launchers)
        return state

    def _bear(self, error: KubernetesError) -> None:
        now = self._timer.now()
        if self._silent_since is None:
            self._silent_since = now
            self._tell(f"{error}. The job goes on meanwhile: trying again")
        elif now - self._silent_since > SILENT_S:
            raise error

    def _show_lines(self) -> bool:
        lines = self._reader.take(wait_s=LINES_S)
        for line in lines:
            self._show(line)
        return bool(lines)

    def _show_the_rest(self) -> None:
        """Show what the launcher wrote last, as far as it is still there."""
        until = self._timer.now() + LATE_S
        while self._timer.now() < until:
            if not self._show_lines() and not self._reader.follow(self._launchers):
                return

    def _tell_stage(self, state: JobState) -> None:
        """Tell how the job is doing, each time that it is another way."""
        reason = f" ({state.reason})" if state.reason else ""
        said = f"{state.name}: {state.status}{reason}"
        if not state.has_ended:
            said += f", {state.detail}"
        if said != self._told:
            self._tell(said)
            self._told = said
