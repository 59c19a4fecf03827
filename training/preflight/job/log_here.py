"""Checks of a job's log folder where its file system is mounted on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from training.data.mounts import find_folder, find_mount
from training.platforms.sagemaker.log_folder import FolderHere
from training.preflight.check import Check
from training.preflight.job.kept import JobInFolderIsTheSame, hyperparameter_texts
from training.preflight.job.log_files import LogInFolder

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan
    from training.platforms.ec2.request import Ec2Request
    from training.platforms.eks.request import EksRequest


def checks_of_log_here(job: Job, plan: Plan) -> Iterator[Check]:
    """Yield the checks of the job before, or of earlier ones where it is new."""
    if plan.platform == "ec2":
        of_nodes = cast("Ec2Request", plan.request)
        yield from _on_efs(job, plan, of_nodes, resume=of_nodes.document["resume"])
    elif plan.platform == "eks":
        of_pods = cast("EksRequest", plan.request)
        yield from _on_efs(job, plan, of_pods, resume=of_pods.resume)
    for step in plan.before:
        if isinstance(step, FolderHere):
            yield from _own(job, plan, step.log) if step.resume else _earlier(job, plan)


def _on_efs(
    job: Job, plan: Plan, request: Ec2Request | EksRequest, *, resume: bool
) -> Iterator[Check]:
    """Yield those of a job for a cluster, whose log folder is on EFS whatever the data source."""
    if resume:
        folder = find_folder(request.log, environ=os.environ)
        if folder is not None:
            from training.preflight.job.earlier import recorded_type

            yield from _own(job, plan, folder, recorded_type(request.log))
    elif find_mount(request.storage.efs_id, environ=os.environ):
        yield from _earlier(job, plan)


def _own(job: Job, plan: Plan, log: Path, instance_type: str | None = None) -> Iterator[Check]:
    """Yield the checks of the job before.

    Args:
        job: The one that goes on.
        plan: Of it.
        log: The folder.
        instance_type: Of the machines before, as they were written down.
    """
    yield JobInFolderIsTheSame(*hyperparameter_texts(job), log)
    from training.preflight.job.course import course_of
    from training.preflight.job.measured import JobLog
    from training.preflight.job.pace import PaceInFolderSuffices

    course = course_of(job, plan)
    if course:
        yield PaceInFolderSuffices(course, JobLog(LogInFolder(log), instance_type))


def _earlier(job: Job, plan: Plan) -> Iterator[Check]:
    from training.preflight.job.course import course_of

    course = course_of(job, plan)
    if course is None:
        return
    from training.preflight.job.earlier import EarlierJobs, earlier_logs
    from training.preflight.job.earlier_pace import EarlierPaceHereSuffices

    logs = earlier_logs(None, "", here=True)
    if logs:
        earlier = EarlierJobs(logs, *hyperparameter_texts(job))
        yield EarlierPaceHereSuffices(course, earlier)
