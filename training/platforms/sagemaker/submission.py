"""Sends a CreateTrainingJob request so that it makes one job, whatever becomes of the answers.

SageMaker has no token that would make a request safe to repeat, but a name is used once: a job
that is there under the name either carries the request's fingerprint, and is ours, or is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from itertools import islice
from typing import Any

from training.aws.clients import Clients
from training.aws.errors import AwsRefused, AwsUnreachable, ForeignAnswer, may_pass
from training.cli import log as console
from training.errors import AwsError, Interrupted, UsageError
from training.platforms.common.patience import Timer, pauses
from training.platforms.sagemaker.commands import how_to_look
from training.platforms.sagemaker.fingerprint import fingerprint_of
from training.platforms.sagemaker.refusals import why
from training.platforms.sagemaker.state import JobState, read_state
from training.platforms.sagemaker.watch import Tell

ATTEMPTS = 7
"""With the pauses in between, about a minute."""


def submit(
    clients: Clients,
    body: Mapping[str, Any],
    *,
    tell: Tell = console.print,
    timer: Timer | None = None,
) -> JobState | None:
    """Make the training job of a request; return once it is there.

    A job of the same name that the same request made before counts as this one: it is returned,
    and may have ended long ago. None where the job was made now.

    Args:
        clients: That send each request once: see `training.platforms.common.patience.connect`.
        body: Exactly what is sent.
        tell: Takes a line for the user.
        timer: Waits.

    Raises:
        UsageError: The name is taken by another job.
        AwsError: It was refused, or no answer came; the message says whether the job may be there.
        Interrupted: By the user; the message says whether the job may be there.
    """
    submission = _Submission(clients, body, tell, timer or Timer())
    try:
        submission.run()
    except KeyboardInterrupt as error:
        raise Interrupted(submission.what_there_may_be()) from error
    return submission.found


class _Submission:
    """One request on its way."""

    def __init__(self, clients: Clients, body: Mapping[str, Any], tell: Tell, timer: Timer) -> None:
        self._sagemaker = clients.sagemaker
        self._body = body
        self._name: str = body["TrainingJobName"]
        self._tell = tell
        self._timer = timer
        self._may_be_there = False
        self.found: JobState | None = None
        """The job, where it was found and not made by the last answer."""

    def run(self) -> None:
        """Send the request until it is known what became of it."""
        problem = self._attempt()
        for pause_s in islice(pauses(), ATTEMPTS - 1):
            if problem is None:
                return
            self._tell(f"trying again in {pause_s:.0f} s: {problem}")
            self._timer.sleep(pause_s)
            problem = self._attempt()
        if problem is not None:
            raise self._give_up(problem)

    def what_there_may_be(self) -> str:
        """Return whether a job may be there, and how to look."""
        if not self._may_be_there:
            return f"No training job {self._name} was started"
        return (
            f"Whether training job {self._name} was started is not known. Before you launch it "
            f"again, look: {how_to_look(self._name)}"
        )

    def _attempt(self) -> AwsError | None:
        """Send the request once; return what went wrong and may pass, None where the job is there.

        Raises:
            UsageError: The name is taken by another job.
            AwsError: The request was refused.
        """
        before, self._may_be_there = self._may_be_there, True
        try:
            self._sagemaker.create_training_job(self._body)
        except AwsError as error:
            self._may_be_there = before or _may_have_been_done(error)
            if isinstance(error, AwsRefused) and error.code == "ResourceInUse":
                return self._meet(error)
            if not may_pass(error):
                raise self._give_up(error) from error
            if self._may_be_there and self._is_there():
                return None
            return error
        return None

    def _meet(self, taken: AwsError) -> AwsError | None:
        """Judge the job that has the name already."""
        try:
            found = self._sagemaker.training_job(self._name)
        except AwsError as error:
            self._may_be_there = True
            if may_pass(error):
                return error
            if isinstance(error, AwsRefused) and error.is_denial:
                # A policy that goes by tags shows the jobs of this project only.
                raise self._taken("a job that your identity may not see") from error
            raise self._give_up(error) from error
        if found is None:
            return taken
        self._require_ours(found)
        self._tell_found(found)
        return None

    def _is_there(self) -> bool:
        """Return whether the job is seen; to send the request again is safe in any case."""
        try:
            found = self._sagemaker.training_job(self._name)
        except AwsError:
            return False
        if found is None:
            return False
        self._require_ours(found)
        self._tell_found(found)
        return True

    def _tell_found(self, found: Mapping[str, Any]) -> None:
        self.found = read_state(found)
        if self._may_be_there:
            self._tell(f"the answer was lost, but training job {self._name} is there")
        else:
            self._tell(
                f"training job {self._name} is there already, from the same request "
                f"({found['TrainingJobStatus']}): no other was started"
                + ("; for another, give another --name" if self.found.has_ended else "")
            )

    def _require_ours(self, found: Mapping[str, Any]) -> None:
        ours, theirs = fingerprint_of(self._body), fingerprint_of(found)
        if ours is None or theirs != ours:
            made = found.get("CreationTime")
            since = f" of {made.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if made else ""
            by = f"fingerprint {theirs[:12]}" if theirs else "not of this program"
            raise self._taken(f"another job{since} ({by}; this one: {(ours or 'none')[:12]})")

    def _taken(self, by: str) -> UsageError:
        return UsageError(
            f"the name {self._name} is taken by {by}, and SageMaker uses a name once. Give another "
            f"--name; to see that job: {how_to_look(self._name)}. No job was started"
        )

    def _give_up(self, error: AwsError) -> AwsError:
        return AwsError(f"{why(error)}. {self.what_there_may_be()}")


def _may_have_been_done(error: AwsError) -> bool:
    """Return whether a request may have had its effect although it got no good answer."""
    if isinstance(error, AwsUnreachable):
        return error.may_have_arrived
    if isinstance(error, AwsRefused):
        return error.is_fault
    # What stands in between may have lost the answer only.
    return isinstance(error, ForeignAnswer)
