"""A job as this host sees it: what adapters and launchers are given."""

import os
import subprocess
from typing import Dict, List, Mapping, NamedTuple, Optional

from .hyperparameters import read_hyperparameters
from .paths import MlPaths
from .resources import read_resources
from .settings import read_settings


class Job(NamedTuple):
    """The same on every host, but for `current_host`."""

    algorithm: str
    distribution: str
    hyperparameters: Dict[str, str]
    """Plain text, JSON's quotes removed; read lists with ast.literal_eval."""
    data: str
    """Folder of the train channel."""
    log: str
    """Folder of logs and checkpoints."""
    hosts: List[str]
    """In the order of their numbers."""
    current_host: str
    processes_per_host: int
    network_interface: Optional[str]
    gpus_per_host: int
    instance_type: Optional[str]

    @property
    def head(self) -> str:
        return self.hosts[0]

    @property
    def is_head(self) -> bool:
        return self.current_host == self.head

    @property
    def host_number(self) -> int:
        return self.hosts.index(self.current_host)

    @property
    def world_size(self) -> int:
        return len(self.hosts) * self.processes_per_host


def read_job(environ: Mapping[str, str], paths: MlPaths) -> Job:
    """Read the container contract.

    Raises:
        EntrypointError: A file or variable is missing or cannot be.
    """
    resources = read_resources(paths.resources)
    hyperparameters = read_hyperparameters(paths.hyperparameters)
    settings = read_settings(environ, paths)
    return Job(
        algorithm=settings.algorithm,
        distribution=settings.distribution,
        hyperparameters=hyperparameters,
        data=settings.data,
        log=settings.log,
        hosts=resources.hosts,
        current_host=resources.current_host,
        processes_per_host=settings.processes_per_host,
        network_interface=resources.network_interface,
        gpus_per_host=count_gpus(),
        instance_type=resources.instance_type,
    )


def count_gpus() -> int:
    """Return how many NVIDIA GPUs the container sees, 0 where there is no driver."""
    try:
        listed = subprocess.check_output(
            ["nvidia-smi", "-L"],  # noqa: S607  (comes with the driver, from the host)
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith(b"GPU ") for line in listed.splitlines())


def describe(job: Job) -> str:
    return (
        f"{job.algorithm} ({job.distribution}) on {len(job.hosts)} host(s) of "
        f"{job.processes_per_host} process(es); this is {job.current_host}, "
        f"the head is {job.head}; "
        f"{job.gpus_per_host} GPU(s) here; data {job.data}, log {job.log}, process {os.getpid()}"
    )
