"""Checks of a planned job that ask nobody, and what they have in common with those that do.

A plan that is only shown loads this module: what few plans need is imported where they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from training import algorithms
from training.aws.s3 import S3
from training.job_options import this_machine
from training.platforms.sagemaker.log_folder import FolderHere
from training.preflight.check import Check
from training.preflight.job.asked import Asked
from training.preflight.job.batch import BatchFitsOnTheGpu, checks_of_batch
from training.preflight.job.data import DataIsMounted, WeightsAreInTheChannel
from training.preflight.job.here import ImageIsHere
from training.preflight.job.kept import (
    JobInFolderIsTheSame,
    JobOnS3IsTheSame,
    hyperparameter_texts,
)
from training.preflight.job.log import LogFolderIsOfThisJob
from training.preflight.job.log_here import checks_of_log_here
from training.preflight.job.schedule import ScheduleMakesSense

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan

ALL: tuple[type[Check], ...] = (
    ScheduleMakesSense,
    BatchFitsOnTheGpu,
    WeightsAreInTheChannel,
    DataIsMounted,
    LogFolderIsOfThisJob,
    JobInFolderIsTheSame,
    ImageIsHere,
)


def offline_checks(job: Job, plan: Plan) -> Iterator[Check]:
    """Yield the checks that ask nobody."""
    rates = plan.learning_rates
    if rates is not None:
        yield ScheduleMakesSense(
            global_batch_size=rates.global_batch_size,
            warmup_steps=rates.warmup_steps,
            total_steps=rates.total_steps,
            images_per_epoch=getattr(job.hyperparameters, "images_per_epoch", None),
        )
    yield from checks_of_batch(job, plan)
    yield WeightsAreInTheChannel(_weights(job))
    for step in plan.before:
        if isinstance(step, FolderHere):
            yield DataIsMounted(*data_of(job), step.train)
            yield LogFolderIsOfThisJob(step.resume, step.log)
    yield from checks_of_log_here(job, plan)


def checks_here(job: Job, plan: Plan) -> Iterator[Check]:
    """Yield the checks of containers on this machine that ask nobody elsewhere."""
    asked, machine = Asked.of(plan.request.to_json()), this_machine()
    yield ImageIsHere(asked.image, job.spec.algorithm, machine.gpus > 0)
    log = next((each for each in asked.file_systems if each.name == "log"), None)
    folder = log and log.folder_here(machine.environ)
    if folder and goes_on(job, plan):
        yield JobInFolderIsTheSame(*hyperparameter_texts(job), folder)


def jobs_before_on_s3(job: Job, plan: Plan, asked: Asked, s3: S3) -> Iterator[Check]:
    """Yield the check of what a job has left on S3, where one goes on from there."""
    if asked.checkpoints and asked.train_on_s3 and goes_on(job, plan):
        yield JobOnS3IsTheSame(*hyperparameter_texts(job), s3, asked.checkpoints)


def goes_on(job: Job, plan: Plan) -> bool:
    """Return whether a job goes on with another: it is then called after that, with a time."""
    return job.spec.name is not None and plan.job_name != job.spec.name


def data_of(job: Job) -> tuple[Sequence[str], dict[str, str], bool, str, str]:
    """Return splits, weights, whether pictures are in TFRecords, and where all of it is."""
    algorithm, spec = algorithms.load(job.spec.algorithm), job.spec
    splits = algorithm.splits(job.hyperparameters)
    return splits, _weights(job), algorithm.READS_RECORDS, spec.data_source, spec.channels.train


def _weights(job: Job) -> dict[str, str]:
    return dict(algorithms.load(job.spec.algorithm).weight_files(job.hyperparameters))
