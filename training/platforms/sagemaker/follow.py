"""Follows a training job to its end, and judges how it ended."""

from __future__ import annotations

from collections.abc import Callable

from training.aws.clients import Clients
from training.cli import log as console
from training.platforms.common.patience import Patience, Timer, connect
from training.platforms.sagemaker.checkpoints import look_for_checkpoint
from training.platforms.sagemaker.commands import how_to_follow, how_to_stop
from training.platforms.sagemaker.ending import conclude, failed_host
from training.platforms.sagemaker.find_job import find_job
from training.platforms.sagemaker.watch import Tell, Watch
from training.platforms.watching import watching


def follow(
    clients: Clients,
    job_name: str,
    show: Callable[[str], None],
    *,
    tell: Tell = console.print,
    timer: Timer | None = None,
    reconnect: Callable[[], Clients] = connect,
) -> None:
    """Show a job's lines until it has ended, and return where it completed.

    A lost connection does not end it: the job goes on meanwhile, and its lines are kept.

    Args:
        clients: That send each request once: see `training.platforms.common.patience.connect`.
        job_name: Of SageMaker's training job.
        show: Takes each line of the job.
        tell: Takes a line about the job, for the user.
        timer: Tells the time and waits.
        reconnect: Makes clients with the credentials that there are then.

    Raises:
        JobFailed: The job failed; the message has the reason and the last lines.
        JobCheckpointed: It was stopped, and may go on from a checkpoint.
        Interrupted: The user stopped watching, or somebody the job before its first checkpoint.
        UsageError: There is no such job.
        AwsError: SageMaker had no machines; or it cannot be asked any more, and the job goes on.
    """
    timer = timer or Timer()
    patience = Patience(clients, reconnect=reconnect, tell=tell, timer=timer)
    with watching(job_name, follow=how_to_follow(job_name), stop=how_to_stop(job_name)):
        job = find_job(patience, job_name)
        watch = Watch(job, patience=patience, show=show, tell=tell, timer=timer)
        ended = watch.until_the_end()
    conclude(
        ended,
        last_lines=watch.last_lines(failed_host(ended.failure_reason)),
        look_for_checkpoint=lambda state: look_for_checkpoint(state, patience),
    )
