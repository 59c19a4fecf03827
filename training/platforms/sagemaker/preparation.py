"""Plans how the log folder of a job on EFS or FSx is made, before the job is sent.

SageMaker mounts only folders that exist, so that the new folder of the `log` channel has to be
there first, and a job whose `train` folder is missing would fail minutes later. Which way is taken
depends on the machine that launches:

- data source s3: nothing is to be made;
- the file system is mounted here, as on the notebook, and this user may write there: a folder is
  made, as any other;
- else: a training job of one small instance makes it, inside the VPC.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from training.job import Job
from training.outputs import NetworkOutputs, StorageOutputs
from training.platforms.api import Launch, StepBefore, timestamp
from training.platforms.api import job_name as name_of_job
from training.platforms.common.tags import tags
from training.platforms.sagemaker.file_system import file_system
from training.platforms.sagemaker.log_folder import MAX_RUN_S, FolderHere, FolderJob
from training.platforms.sagemaker.names import MAX_LENGTH
from training.platforms.sagemaker.network import vpc_config
from training.platforms.sagemaker.one_instance import ROOT_CHANNEL, OneInstance

SUFFIX = "-folders"


def plan_preparation(
    job: Job,
    *,
    network: NetworkOutputs,
    storage: StorageOutputs,
    image: str,
    log_path: str,
    job_name: str,
    launch: Launch,
) -> tuple[StepBefore, ...]:
    """Return what has to be done before a job is sent; nothing for data source s3.

    Nothing happens yet: what is mounted on this machine is looked at, and that is all.

    Args:
        image: What the job runs; the training job that makes folders runs it too.
        log_path: Of this job's own folder, as `channels.log` is: without a leading slash.
        job_name: As SageMaker will know the job.

    Raises:
        UsageError: A path is too long, or there is no such file system.
    """
    files = file_system(job, storage)
    if files is None:
        return ()
    log, train = files.path(log_path), files.path(job.spec.channels.train)
    mount = files.mount(launch.machine.environ)
    why = _why_not_here(mount, log)
    if mount is not None and why is None:
        here = mount / log
        return (
            FolderHere(
                what=f"{_verb(launch)} the log folder {here}: {files} is mounted on this machine",
                log=here,
                train=mount / train,
                resume=launch.resume,
            ),
        )
    name = folder_job_name(job_name, launch)
    body = OneInstance(
        name=name,
        image=image,
        arguments=["folders", "--need" if launch.resume else "--make", log, "--need", train],
        file_systems={ROOT_CHANNEL: files},
        vpc=vpc_config(job, network, storage),
        role_arn=storage.training_role_arn,
        instance_type=job.spec.sagemaker.preparation_instance_type,
        max_run_s=MAX_RUN_S,
        output=f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.log)}",
        key_arn=storage.encryption_key_arn,
        network_isolation=job.spec.sagemaker.network_isolation,
        tags=tags(job.spec.tags, project=network.project, job=name_of_job(job, launch)),
    ).body()
    return (
        FolderJob(
            what=f"{_verb(launch)} the log folder /{log} of {files} with training job "
            f"{name} on one {body['ResourceConfig']['InstanceType']}, a few minutes: {why}",
            request=body,
            name=name,
            log=log,
            train=train,
            file_system_id=files.id,
        ),
    )


def folder_job_name(job_name: str, launch: Launch) -> str:
    """Return the name of the training job that makes a job's folders: `<job>-folders`.

    A name is used once. The job's own has the time of the launch in it, or else it is put at the
    end: the user may launch a job again under the name that they gave it, where its data was
    missing the first time.
    """
    suffix = SUFFIX
    if timestamp(launch.now) not in job_name:
        suffix += launch.now.strftime("-%Y%m%d%H%M%S")
    if len(job_name) + len(suffix) <= MAX_LENGTH:
        return job_name + suffix
    # Long names that begin alike stay apart.
    suffix = f"-{hashlib.sha256(job_name.encode()).hexdigest()[:8]}{suffix}"
    return job_name[: MAX_LENGTH - len(suffix)].rstrip("-") + suffix


def _why_not_here(mount: Path | None, log: str) -> str | None:
    """Return why the folder cannot be made on this machine; None where it can."""
    if mount is None:
        return "the file system is not mounted on this machine"
    parent = _nearest_folder(mount / log)
    # A folder that a training job made is root's.
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"this user may not write to {parent}"
    return None


def _verb(launch: Launch) -> str:
    return "look for" if launch.resume else "make"


def _nearest_folder(path: Path) -> Path:
    """Return the path itself, or its nearest parent that exists."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))
