"""A pod of an MPIJob: what MPI Operator and the chart tell it.

The operator (v2beta1) gives each pod its name as host name and mounts the job's SSH key; the
launcher gets the list of workers too
(https://github.com/kubeflow/mpi-operator, pkg/controller/mpi_job_controller.go).
"""

import os
import re
import shutil
import socket
from typing import Dict, List, Mapping, NamedTuple, Optional

from .errors import EntrypointError
from .job import Job
from .resources import Resources
from .ssh_key import read_public_key
from .wire import Message

PORT = 2222
"""Of the workers' SSH servers: without root none can listen below 1024."""
SOCKETS = "/tmp/mask-rcnn-ranks"  # noqa: S108  (each pod has a /tmp of its own)
"""Folder of the sockets of elastic ranks, the same in every pod."""

_HOSTFILE_VARIABLE = "OMPI_MCA_orte_default_hostfile"
_OF_OPERATOR = (
    _HOSTFILE_VARIABLE,
    "OMPI_MCA_orte_keep_fqdn_hostnames",
    "OMPI_MCA_orte_set_default_slots",
    "OMPI_MCA_plm_rsh_args",
    "K_MPI_JOB_ROLE",
    # Emptied in the launcher, so that it takes no GPU.
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
)
"""What the operator tells an mpirun that is started by hand; ours is told everything."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_LINE = re.compile(r"(\S+)(?:\s+slots=(\d+))?\s*")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_INSTANCE_TYPE = re.compile(r"[a-z0-9_.-]{1,64}")


class Pod(NamedTuple):
    """What every pod of a job is told."""

    name: str
    uid: str
    """Of this pod alone: one that comes in its place has another. Empty: not told."""
    interface: str
    instance_type: Optional[str]
    keys: str
    """Folder of the job's key: sshAuthMountPath of the MPIJob."""
    wait_s: int
    """How long the launcher waits for workers, and a worker for a launcher."""
    least_workers: int
    """With fewer an elastic job waits."""


def passport(job: Job) -> Message:
    """Return what must be the same in all pods of a job."""
    return {
        "algorithm": job.algorithm,
        "distribution": job.distribution,
        "processes_per_host": job.processes_per_host,
        "log": job.log,
    }


class Listed(NamedTuple):
    """A worker as the hostfile has it."""

    host: str
    """Name of its pod, by which it goes here."""
    name: str
    """What resolves to its address."""


def read_pod(environ: Mapping[str, str]) -> Pod:
    """Raises: EntrypointError: A variable has a value that cannot be."""
    instance_type = environ.get("MASK_RCNN_INSTANCE_TYPE") or None
    return Pod(
        name=socket.gethostname().partition(".")[0],
        uid=environ.get("MASK_RCNN_POD_UID", ""),
        interface=_matching("MASK_RCNN_INTERFACE", environ, _INTERFACE, "eth0"),
        instance_type=instance_type
        and _matching("MASK_RCNN_INSTANCE_TYPE", environ, _INSTANCE_TYPE, ""),
        keys=environ.get("MASK_RCNN_SSH_AUTH") or "/etc/mask-rcnn/ssh",
        wait_s=_count("MASK_RCNN_WORKERS_WAIT_S", environ, 1800),
        least_workers=_count("MASK_RCNN_LEAST_HOSTS", environ, 1),
    )


def own_variables(environ: Mapping[str, str]) -> Dict[str, str]:
    """Return the variables without those that the operator means for another mpirun."""
    return {name: value for name, value in environ.items() if name not in _OF_OPERATOR}


def resources_of(pod: Pod, hosts: List[str]) -> Resources:
    return Resources(hosts, pod.name, pod.interface, pod.instance_type)


def read_hostfile(environ: Mapping[str, str], slots: str) -> List[Listed]:
    """Return the job's workers, in the operator's order.

    Args:
        environ: The launcher's variables.
        slots: How many ranks a worker is to run (MASK_RCNN_PROCESSES_PER_HOST).

    Raises:
        EntrypointError: The file is not there, or has something that cannot be.
    """
    path = environ.get(_HOSTFILE_VARIABLE) or "/etc/mpi/hostfile"
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, ValueError) as error:
        raise EntrypointError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); MPI Operator "
            "mounts it in the launcher of an MPIJob"
        )
    workers = [_listed(path, line, slots) for line in lines if line]
    if not workers:
        raise EntrypointError(f"{path}: names no worker; the MPIJob has none")
    if len({worker.host for worker in workers}) != len(workers):
        raise EntrypointError(f"{path}: has a worker twice")
    return workers


def _listed(path: str, line: str, slots: str) -> Listed:
    match = _LINE.fullmatch(line)
    if match is None or not _NAME.fullmatch(match.group(1)):
        raise EntrypointError(
            f"{path}: {line[:80]!r}; expected `NAME slots=N` (mpiImplementation: OpenMPI)"
        )
    name, of_file = match.group(1), match.group(2) or "1"
    if of_file != slots:
        raise EntrypointError(
            f"{path}: {name} has {of_file} slots, but MASK_RCNN_PROCESSES_PER_HOST is {slots}; "
            "slotsPerWorker of the MPIJob has to be the same"
        )
    host = name.partition(".")[0]
    if host == socket.gethostname().partition(".")[0]:
        raise EntrypointError(
            f"{path}: names the launcher itself; runLauncherAsWorker of the MPIJob has to be false"
        )
    return Listed(host, name)


class JobKey(NamedTuple):
    """The job's SSH key, which all its pods have.

    It logs the launcher in, and is the host key of the workers' servers: who has it is a pod of
    this job, and nobody else can pass for a worker.
    """

    path: str
    """Of a copy that is this user's alone, its public half beside it."""
    public: str


def take_key(pod: Pod, folder: str) -> JobKey:
    """Copy the key from where it is mounted: ssh and sshd take none that others may read.

    Raises:
        EntrypointError: It is not there, or not for this user.
    """
    path = os.path.join(folder, "job_key")
    source = os.path.join(pod.keys, "id_rsa")
    try:
        with open(source, "rb") as mounted, open(path, "wb", opener=_private) as copy:
            shutil.copyfileobj(mounted, copy)
        shutil.copyfile(f"{source}.pub", f"{path}.pub")
    except OSError as error:
        raise EntrypointError(
            f"{error.filename}: cannot be read by user id {os.geteuid()} ({error.strerror}); "
            f"sshAuthMountPath of the MPIJob has to be {pod.keys}, and not /root/.ssh, which is "
            "root's alone"
        )
    return JobKey(path, read_public_key(f"{path}.pub"))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _matching(
    name: str, environ: Mapping[str, str], pattern: "re.Pattern[str]", default: str
) -> str:
    value = environ.get(name) or default
    if not pattern.fullmatch(value):
        raise EntrypointError(f"{name}: {value!r}; expected {pattern.pattern}")
    return value


def _count(name: str, environ: Mapping[str, str], default: int) -> int:
    value = environ.get(name) or str(default)
    if not value.isdigit() or not 1 <= int(value) <= 10**7:
        raise EntrypointError(f"{name}: {value!r}; expected a whole number from 1")
    return int(value)
