"""The engine's commands for one job: its network, and one container for each host."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from training.container_engine import Engine
from training.platforms.sagemaker.containers.mounts import Mount

NETWORK_PREFIX = "mask-rcnn-"
"""Before the mark, in the name of a network and of a container."""

LABEL = "mask-rcnn.run"
"""On everything that a job makes in the engine, with the mark of the run as its value."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all containers of a job have in common."""

    engine: Engine
    mark: str
    """Tells the things of this run from those of all others."""
    image: str
    gpus: bool
    isolated: bool
    shared_memory_bytes: int
    arguments: tuple[str, ...]
    """For the image's entry point."""
    entrypoint: str | None

    @property
    def network(self) -> str:
        return f"{NETWORK_PREFIX}{self.mark}"

    def container(self, host: str) -> str:
        return f"{NETWORK_PREFIX}{self.mark}-{host}"


def shares(cores: Sequence[int], hosts: int) -> list[list[int]]:
    """Return the cores of each host: as equal parts as can be; one, where there are too few."""
    if hosts > len(cores):
        return [[cores[number % len(cores)]] for number in range(hosts)]
    return [list(cores[number::hosts]) for number in range(hosts)]


def make_network(setting: Setting) -> tuple[str, ...]:
    """Return the engine's command that makes the job's own network."""
    # Within it only, as a job that is isolated by SageMaker.
    internal = ("--internal",) if setting.isolated else ()
    label = ("--label", f"{LABEL}={setting.mark}")
    return ("network", "create", *internal, *label, setting.network)


def run_container(
    setting: Setting,
    host: str,
    variables: Mapping[str, str],
    mounts: Sequence[Mount],
    cores: Sequence[int],
) -> list[str]:
    """Return the whole command that runs one host to its end and passes on what it prints.

    Args:
        setting: What all hosts have in common.
        host: Its name.
        variables: Of its processes.
        mounts: Its folders.
        cores: Those that it may use: an instance has its own, so that each container counts only
            these, and does not start as many threads as the machine has cores.
    """
    return setting.engine.argv(
        "run",
        *("--rm", "--pull", "never"),
        *("--name", setting.container(host), "--label", f"{LABEL}={setting.mark}"),
        *("--network", setting.network, "--network-alias", host, "--hostname", host),
        # What a container prints is read while it runs: a second copy would fill the disk.
        *("--log-driver", "none"),
        *_own_cores(setting, cores),
        *("--shm-size", str(setting.shared_memory_bytes)),
        *setting.engine.limits(),
        *_devices(setting),
        *(word for name, value in variables.items() for word in ("--env", f"{name}={value}")),
        *(word for mount in mounts for word in ("--volume", mount.argument)),
        *(("--entrypoint", setting.entrypoint) if setting.entrypoint else ()),
        setting.image,
        *setting.arguments,
    )


def _own_cores(setting: Setting, cores: Sequence[int]) -> tuple[str, ...]:
    # Without root, podman is seldom given this part of the control groups.
    if setting.engine.name == "podman" and os.geteuid() != 0:
        return ()
    return ("--cpuset-cpus", ",".join(map(str, cores)))


def _devices(setting: Setting) -> Iterator[str]:
    if setting.engine.name == "podman":
        # Where SELinux is on, the folders would have to get a label that stays.
        yield from ("--security-opt", "label=disable")
    if setting.gpus:
        is_docker = setting.engine.name == "docker"
        yield from ("--gpus", "all") if is_docker else ("--device", "nvidia.com/gpu=all")
