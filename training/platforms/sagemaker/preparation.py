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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.mounts import find_mount
from training.job import Job
from training.outputs import NetworkOutputs, StorageOutputs
from training.platforms.api import Launch, StepBefore, timestamp
from training.platforms.api import job_name as name_of_job
from training.platforms.sagemaker.log_folder import MAX_RUN_S, FolderHere, FolderJob
from training.platforms.sagemaker.one_instance import NAME_LENGTH, FileSystem, OneInstance
from training.platforms.sagemaker.tags import tags

SUFFIX = "-folders"


@dataclass(frozen=True)
class _Place:
    """Where the folders of both channels are."""

    file_system: FileSystem
    below: str
    """Of the file system's root: the folder that channel paths begin at, without slashes at its
    ends; empty where it is the root."""
    mount: Path | None
    """Of the file system's root on this machine."""

    def path(self, channel: str) -> str:
        """Return a channel's path below the file system's root."""
        return f"{self.below}/{channel}" if self.below else channel


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
    if job.spec.data_source == "s3":
        return ()
    place = _place(job, network, storage, launch)
    log, train = place.path(log_path), place.path(job.spec.channels.train)
    why = _why_not_here(place, log)
    if place.mount is not None and why is None:
        here = place.mount / log
        return (
            FolderHere(
                what=f"{_verb(launch)} the log folder {here}: {_name(place)} is mounted on this "
                "machine",
                log=here,
                train=place.mount / train,
                resume=launch.resume,
            ),
        )
    name, first_name = folder_job_name(job_name, launch), name_of_job(job, launch)
    body = _request(
        job,
        place,
        name=name,
        image=image,
        arguments=["folders", "--need" if launch.resume else "--make", log, "--need", train],
        storage=storage,
        tagged=tags(job.spec.tags, project=network.project, job=first_name),
    )
    return (
        FolderJob(
            what=f"{_verb(launch)} the log folder /{log} of {_name(place)} with training job "
            f"{name} on one {body['ResourceConfig']['InstanceType']}, a few minutes: {why}",
            request=body,
            name=name,
            log=log,
            train=train,
            file_system_id=place.file_system.id,
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
    if len(job_name) + len(suffix) <= NAME_LENGTH:
        return job_name + suffix
    # Long names that begin alike stay apart.
    suffix = f"-{hashlib.sha256(job_name.encode()).hexdigest()[:8]}{suffix}"
    return job_name[: NAME_LENGTH - len(suffix)].rstrip("-") + suffix


def _place(job: Job, network: NetworkOutputs, storage: StorageOutputs, launch: Launch) -> _Place:
    environ = launch.machine.environ
    groups = (network.training_security_group_id,)
    if job.spec.data_source == "efs":
        shared = FileSystem(
            id=storage.efs_id,
            type="EFS",
            directory_path="/",
            subnet_ids=network.private_subnet_ids,
            security_group_ids=groups,
        )
        return _Place(shared, "", find_mount(storage.efs_id, environ=environ))
    lustre = storage.lustre(asked_by="data_source: fsx")
    file_system = FileSystem(
        id=lustre.id,
        type="FSxLustre",
        directory_path=f"/{lustre.mount_name}",
        # It is in one zone, and traffic to another is paid for.
        subnet_ids=(lustre.subnet_id,),
        security_group_ids=groups,
    )
    mount = find_mount(lustre.id, environ=environ, aliases=(lustre.mount_name,))
    return _Place(file_system, lustre.data_path.strip("/"), mount)


def _why_not_here(place: _Place, log: str) -> str | None:
    """Return why the folder cannot be made on this machine; None where it can."""
    if place.mount is None:
        return "the file system is not mounted on this machine"
    parent = _nearest_folder(place.mount / log)
    # A folder that a training job made is root's.
    if not os.access(parent, os.W_OK | os.X_OK):
        return f"this user may not write to {parent}"
    return None


def _request(
    job: Job,
    place: _Place,
    *,
    name: str,
    image: str,
    arguments: Sequence[str],
    storage: StorageOutputs,
    tagged: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Return the body of the training job that makes the folder."""
    return OneInstance(
        name=name,
        image=image,
        arguments=arguments,
        file_system=place.file_system,
        role_arn=storage.training_role_arn,
        instance_type=job.spec.sagemaker.preparation_instance_type,
        max_run_s=MAX_RUN_S,
        output=f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.log)}",
        key_arn=storage.encryption_key_arn,
        network_isolation=job.spec.sagemaker.network_isolation,
        tags=tagged,
    ).body()


def _verb(launch: Launch) -> str:
    return "look for" if launch.resume else "make"


def _name(place: _Place) -> str:
    kind = "EFS" if place.file_system.type == "EFS" else "FSx for Lustre"
    return f"{kind} {place.file_system.id}"


def _nearest_folder(path: Path) -> Path:
    """Return the path itself, or its nearest parent that exists."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))
