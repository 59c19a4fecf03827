"""A job as this host sees it: what adapters and launchers are given."""

import os
import subprocess
from typing import Dict, List, Mapping, NamedTuple, Optional

from .hyperparameters import read_hyperparameters
from .paths import MlPaths
from .resources import Resources, read_resources
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
    """Those that run ranks, in the order of their numbers."""
    current_host: str
    processes_per_host: int
    network_interface: Optional[str]
    gpus_per_host: int
    instance_type: Optional[str]
    launcher: Optional[str] = None
    """A host that starts the ranks and runs none itself; None: the first of `hosts` does both."""

    @property
    def head(self) -> str:
        return self.launcher or self.hosts[0]

    @property
    def workers(self) -> List[str]:
        """Return the hosts that the head waits for."""
        return [host for host in self.hosts if host != self.head]

    @property
    def is_head(self) -> bool:
        return self.current_host == self.head

    @property
    def host_number(self) -> int:
        return self.hosts.index(self.current_host)

    @property
    def world_size(self) -> int:
        return len(self.hosts) * self.processes_per_host


def read_job(
    environ: Mapping[str, str],
    paths: MlPaths,
    resources: Optional[Resources] = None,
    *,
    needs_data: bool = True,
) -> Job:
    """Read the container contract.

    Args:
        environ: The container's variables.
        paths: Of the contract's files.
        resources: The hosts; None: resourceconfig.json has them.
        needs_data: Whether this host reads the data.

    Raises:
        EntrypointError: A file or variable is missing or cannot be.
    """
    resources = resources or read_resources(paths.resources)
    hyperparameters = read_hyperparameters(paths.hyperparameters)
    settings = read_settings(environ, paths, needs_data=needs_data)
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
