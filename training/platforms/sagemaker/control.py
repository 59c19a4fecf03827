"""Looks after training jobs for `python -m training.jobs`; see `training.jobs.control`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from training.aws.clients import Clients
from training.aws.errors import AwsRefused
from training.aws.sagemaker import JobPage
from training.cli import log as console
from training.jobs.info import JobInfo
from training.platforms.common.patience import Patience, Timer, connect
from training.platforms.sagemaker import ending
from training.platforms.sagemaker import follow as following
from training.platforms.sagemaker.checkpoints import look_for_checkpoint
from training.platforms.sagemaker.find_job import find_job
from training.platforms.sagemaker.fingerprint import fingerprint_of
from training.platforms.sagemaker.state import JobState, read_state
from training.platforms.sagemaker.watch import Watch

if TYPE_CHECKING:
    from training.jobs.control import JobControl

PAUSE_S = 0.1
"""Between two jobs that are looked at; AWS does not tell the rate of DescribeTrainingJob."""

ATTEMPTS = 3
"""Of each request of a command that does not wait for a job: an endpoint that is down is told."""

LOOKED_AT = 1000
"""Of the newest jobs of a region: those of other programs in between make a list slow."""


def control(_: Path | None) -> JobControl:
    """Return what looks after the training jobs of an account and region: this very module.

    No output of the stacks is needed for that.
    """
    return cast("JobControl", sys.modules[__name__])


def jobs(*, limit: int) -> list[JobInfo]:
    """Return the jobs that this program launched, newest first.

    SageMaker's list has neither tags nor variables, so that each job is looked at. Its Search
    would find them by a tag, but whoever may search sees what everybody's jobs were given:
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
    """
    timer = Timer()
    search = _Search(_patience(timer), timer)
    found = list(islice(search.run(), limit))
    search.tell_what_is_missing()
    return [_info(state) for state in found]


def status(name: str) -> JobInfo:
    """Return how a job is doing."""
    return _info(find_job(_patience(Timer()), name))


def show(name: str, line: Callable[[str], None]) -> None:
    """Show the lines that a job has written by now."""
    timer = Timer()
    patience = _patience(timer)
    job = find_job(patience, name)
    Watch(job, patience=patience, show=line, tell=console.print, timer=timer).what_is_there()


def follow(name: str, line: Callable[[str], None]) -> None:
    """Show a job's lines until it has ended; once it is found, whatever is down meanwhile."""
    find_job(_patience(Timer()), name)
    following.follow(connect(), name, line)


def conclude(name: str) -> None:
    """Say how a job has ended."""
    patience = _patience(Timer())
    ending.conclude(
        find_job(patience, name),
        last_lines=(),
        look_for_checkpoint=lambda state: look_for_checkpoint(state, patience),
    )


def stop(name: str) -> JobInfo:
    """Ask a job to end."""
    patience = _patience(Timer())
    if find_job(patience, name).status != "running":
        return status(name)
    try:
        patience.ask(lambda clients: clients.sagemaker.stop_training_job(name))
    except AwsRefused as error:
        # It has ended in between.
        if error.code != "ValidationException":
            raise
    return _info(find_job(patience, name))


def _patience(timer: Timer) -> Patience:
    return Patience(
        connect(), reconnect=connect, tell=console.print, timer=timer, attempts=ATTEMPTS
    )


class _Search:
    """A walk through the jobs of a region."""

    def __init__(self, patience: Patience, timer: Timer) -> None:
        self._patience = patience
        self._timer = timer
        self._hidden = 0
        self._is_cut = False

    def run(self) -> Iterator[JobState]:
        """Yield the jobs that this program launched, newest first."""
        for number, name in enumerate(self._names()):
            if number == LOOKED_AT:
                self._is_cut = True
                return
            self._timer.sleep(PAUSE_S)
            description = self._describe(name)
            if description is not None and fingerprint_of(description) is not None:
                yield read_state(description)

    def tell_what_is_missing(self) -> None:
        if self._hidden:
            console.print(
                f"{self._hidden} other jobs were left out: your identity may not look at them "
                "(sagemaker:DescribeTrainingJob)"
            )
        if self._is_cut:
            console.print(f"Older jobs than the newest {LOOKED_AT} of this region were left out")

    def _describe(self, name: str) -> Mapping[str, Any] | None:
        try:
            return self._patience.ask(lambda clients: clients.sagemaker.training_job(name))
        except AwsRefused as error:
            if not error.is_denial:
                raise
            self._hidden += 1
            return None

    def _names(self) -> Iterator[str]:
        token: str | None = None
        while True:
            page = self._patience.ask(partial(_page, token))
            yield from (job["TrainingJobName"] for job in page.jobs)
            if page.token is None:
                return
            token = page.token


def _page(token: str | None, clients: Clients) -> JobPage:
    return clients.sagemaker.training_jobs(token)


def _info(state: JobState) -> JobInfo:
    last = state.transitions[-1].message if state.transitions else None
    return JobInfo(
        name=state.name,
        status=state.status,
        detail=state.secondary,
        message=state.failure_reason or last,
        machines=state.machines,
        created=state.created,
        ended=state.ended,
        billing=state.billing(),
        usage=state.usage(datetime.now(UTC)),
        model=state.model,
        log=state.log,
    )
