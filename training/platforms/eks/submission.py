"""Makes a job's release, so that there is one job, whatever becomes of the answers.

A release has a name once, and its MPIJob carries the fingerprint of the request: a job that is
there under the name either has the same fingerprint, and is ours, or is another.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice

from training.cli import log as console
from training.errors import AwsError, Interrupted, TrainingError, UsageError
from training.kubernetes.errors import HelmBusy, KubernetesUnreachable, ReleaseExists
from training.platforms.common.patience import Timer, pauses
from training.platforms.eks.commands import how_to_follow, how_to_look, how_to_stop
from training.platforms.eks.connection import Connection, may_pass
from training.platforms.eks.looking import find
from training.platforms.eks.removing import remove, wait_until_gone
from training.platforms.eks.request import EksRequest
from training.platforms.eks.state import JobState

ATTEMPTS = 6
"""With the pauses in between, about half a minute."""

SETTLE_S = 30.0
"""How long another launch of the same request, which has just begun, is left alone."""

Tell = Callable[[str], None]
"""Takes a line for the user."""


def submit(
    connection: Connection,
    request: EksRequest,
    *,
    tell: Tell = console.print,
    timer: Timer | None = None,
) -> JobState | None:
    """Make the release of a request; return once its MPIJob is there.

    A job that the same request made before counts as this one: it is returned, and may have ended
    long ago. None where the job was made now.

    Args:
        connection: To the cluster.
        request: Exactly what is made.
        tell: Takes a line for the user.
        timer: Waits.

    Raises:
        UsageError: The name is another job's, or the cluster's charts take no such values.
        AwsError: It was refused, or no answer came; the message says whether the job may be there.
        Interrupted: By the user; the message says whether the job is there.
    """
    submission = _Submission(connection, request, tell, timer or Timer())
    try:
        return submission.run()
    except KeyboardInterrupt as error:
        raise Interrupted(submission.what_there_may_be()) from error


class _Submission:
    """One request on its way."""

    def __init__(
        self, connection: Connection, request: EksRequest, tell: Tell, timer: Timer
    ) -> None:
        self._connection = connection
        self._request = request
        self._name = request.job_name
        self._tell = tell
        self._timer = timer
        self._may_be_there = False

    def run(self) -> JobState | None:
        """Make the release, or find that it is there."""
        there = self._look()
        if there is not None and (done := self._meet(there)) is not None:
            return done
        problem = self._attempt(replace=there is not None)
        for pause_s in islice(pauses(), ATTEMPTS - 1):
            if problem is None:
                return None
            self._tell(f"trying again in {pause_s:.0f} s: {problem}")
            self._timer.sleep(pause_s)
            there = self._look()
            if there is not None and (done := self._meet(there)) is not None:
                return done
            problem = self._attempt(replace=there is not None)
        if problem is None:
            return None
        raise AwsError(f"{problem}. {self.what_there_may_be()}") from problem

    def what_there_may_be(self) -> str:
        """Return whether a job may be there, and how to look."""
        if not self._may_be_there:
            return f"no job {self._name} was started"
        return (
            f"Whether {self._name} was started is not known. Before you launch it again, look: "
            f"{how_to_look(self._name)}"
        )

    def _attempt(self, *, replace: bool) -> TrainingError | None:
        """Let helm make the release; return what may pass, None where the job is there.

        Raises:
            UsageError: The values do not fit the chart.
            AwsError: The cluster refused.
            Interrupted: By the user, once it is known what is there.
        """
        self._may_be_there = True
        try:
            self._connection.helm.install(
                self._name,
                self._request.chart_folder,
                self._request.values,
                description=f"fingerprint {self._request.fingerprint[:12]}",
                replace=replace,
            )
        except (ReleaseExists, HelmBusy) as error:
            # Another launch was faster. Whose it is, the next look tells.
            return error
        except KubernetesUnreachable as error:
            self._may_be_there = error.may_have_arrived
            return error
        except Interrupted as error:
            raise Interrupted(self._after_interruption()) from error
        except TrainingError as error:
            if may_pass(error):
                return error
            self._take_back()
            raise
        return None

    def _look(self) -> JobState | None:
        """Return the job of the name; None for none.

        Raises:
            AwsError: It cannot be asked for; the message says whether a job may be there.
        """
        try:
            return find(self._connection, self._name, now=datetime.now(UTC))
        except AwsError as error:
            if not self._may_be_there:
                raise
            raise AwsError(f"{error}. {self.what_there_may_be()}") from error

    def _meet(self, there: JobState) -> JobState | None:
        """Judge the job that has the name; return it where it is ours, None where it makes room.

        Raises:
            UsageError: It is another job.
        """
        is_ours = there.fingerprint == self._request.fingerprint
        if is_ours and (there.has_mpijob or there.is_removed):
            self._tell_found(there)
            return there
        if is_ours:  # helm was stopped before it had made the MPIJob, or is at it.
            if there.status == "waiting" and self._is_fresh(there):
                self._timer.sleep(SETTLE_S)
            again = self._look()
            if again is not None and again.has_mpijob:
                return self._meet(again)
            self._tell(f"what an earlier attempt has left of {self._name} is removed")
            self._connection.helm.uninstall(self._name)
            return None
        if self._request.resume and there.has_ended:
            if not there.is_removed:
                self._tell(f"what is left of {self._name} ({there.status}) is removed first")
                remove(self._connection, self._name)
                wait_until_gone(self._connection, self._name, timer=self._timer)
            return None
        raise UsageError(self._taken(there))

    def _is_fresh(self, there: JobState) -> bool:
        now = datetime.fromtimestamp(self._timer.now(), UTC)
        return there.created is not None and (now - there.created).total_seconds() < SETTLE_S

    def _tell_found(self, there: JobState) -> None:
        if self._may_be_there:
            self._tell(f"the answer was lost, but {self._name} is there")
            return
        another = "; for another, give another --name" if there.has_ended else ""
        self._tell(
            f"{self._name} is there already, from the same request ({there.status}): no other was "
            f"started{another}"
        )

    def _taken(self, there: JobState) -> str:
        made = f" of {there.created:%Y-%m-%d %H:%M} UTC" if there.created else ""
        by = f"fingerprint {there.fingerprint[:12]}" if there.fingerprint else "made by hand"
        if self._request.resume:
            way = f"It has not ended: end it ({how_to_stop(self._name)}), and then go on with it"
        else:
            way = "Give another --name, or go on with that job: --resume"
        return (
            f"the name {self._name} is taken by another job{made} ({by}; this one: "
            f"{self._request.fingerprint[:12]}), which is {there.status}. {way}; to see it: "
            f"{how_to_look(self._name)}. No job was started"
        )

    def _after_interruption(self) -> str:
        """Return what is there after Ctrl-C, without half a release."""
        try:
            there = find(self._connection, self._name, now=datetime.now(UTC))
            if there is not None and there.has_mpijob:
                return (
                    f"{self._name} was started all the same. Follow it: "
                    f"{how_to_follow(self._name)}; end it: {how_to_stop(self._name)}"
                )
            if there is not None:
                self._connection.helm.uninstall(self._name)
        except TrainingError:
            return self.what_there_may_be()
        return f"no job {self._name} was started"

    def _take_back(self) -> None:
        """Remove what a refused release has left; it holds the name otherwise."""
        try:
            self._connection.helm.uninstall(self._name)
        except TrainingError as error:
            self._tell(f"what the refused release may have left is not removed: {error}")
