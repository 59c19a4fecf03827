"""Sends a plan to SageMaker: what comes before, then the request; and follows the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from training.aws.clients import Clients
from training.aws.errors import AwsRefused
from training.cli import log as console
from training.errors import Interrupted
from training.platforms.api import Ending, Plan
from training.platforms.common.patience import Patience, Timer, connect
from training.platforms.sagemaker.commands import how_to_follow
from training.platforms.sagemaker.experiment import ExperimentStep, make_experiment
from training.platforms.sagemaker.follow import follow
from training.platforms.sagemaker.log_folder import FolderHere, FolderJob, prepare
from training.platforms.sagemaker.submission import submit

ATTEMPTS = 4
"""Of the look for a job of the same name."""


def send(
    plan: Plan,
    body: Mapping[str, Any],
    *,
    wait: bool,
    clients: Clients | None = None,
    show: Callable[[str], None] | None = None,
) -> Ending:
    """Do the plan's steps in their order, send the request, and wait where that is wanted.

    Args:
        body: The plan's request.
        clients: That send each request once; made here by default.
        show: Takes each line of a job that is followed; the log by default.

    Raises:
        PreflightError: The data is not where the job would look for it.
        UsageError: The job's name is another job's.
        JobFailed: The job failed, or the one that makes its folder.
        JobCheckpointed: The job was stopped and can go on from its checkpoint.
        AwsError: AWS refused a request.
        Interrupted: The user did not wait for the end.
    """
    show = show or console.out
    try:
        clients = clients or connect()
        # Where there is a job of the name, its folder is in use by now: `submit` tells whose it is.
        if plan.before and not _is_there(clients, plan.job_name):
            _do_before(plan, clients)
    except KeyboardInterrupt as error:
        raise Interrupted(f"before {plan.job_name} was sent: no such job was started") from error
    found = submit(clients, body)
    # One that has ended is not on its way: how it ended is told, as to whoever follows it.
    if not wait and not (found is not None and found.has_ended):
        console.print(f"{plan.job_name} is on its way. Follow it: {how_to_follow(plan.job_name)}")
        return "submitted"
    follow(clients, plan.job_name, show if wait else _no_line)
    return "completed"


def _is_there(clients: Clients, job_name: str) -> bool:
    """Return whether there is a job of that name, as far as this identity may know."""
    patience = Patience(clients, reconnect=connect, tell=console.print, timer=Timer())
    try:
        found = patience.ask(
            lambda asked: asked.sagemaker.training_job(job_name), attempts=ATTEMPTS
        )
    except AwsRefused as error:
        # A policy that goes by tags refuses to look at a job that is not there.
        if error.is_denial:
            return False
        raise
    return found is not None


def _no_line(_: str) -> None:
    """Take a line that nobody asked for."""


def _do_before(plan: Plan, clients: Clients) -> None:
    """Do the plan's steps; the lines of the job that makes a folder are of no interest."""

    def run_job(request: Mapping[str, Any]) -> None:
        name = request["TrainingJobName"]
        submit(clients, request)
        # Its stages are those of the job itself: each line says whose it is.
        follow(clients, name, _no_line, tell=lambda line: console.print(f"{name}: {line}"))
        console.print(f"{name} is done: {plan.job_name} comes next")

    for step in plan.before:
        console.print(step.what)
        if isinstance(step, ExperimentStep):
            make_experiment(clients.sagemaker, step)
        else:
            assert isinstance(step, FolderHere | FolderJob)
            prepare(step, run_job)
