"""The container engine of a node: docker on AWS's images, podman where there is no docker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from node.errors import NodeError

LABEL = "mask-rcnn.job"
"""Its value is an order's mark, `job/round/address`."""
PULL_S = 3600
_ECR = re.compile(r"([0-9]{12}\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?)/")


def engine() -> str:
    """Return the engine's path.

    Raises:
        NodeError: There is none.
    """
    for name in ("docker", "podman"):
        if path := shutil.which(name):
            return path
    raise NodeError("neither docker nor podman is on this node: its set-up did not end well")


def pull(image: str, *, timeout_s: float = PULL_S) -> None:
    """Fetch an image, logged in to its registry where that is ECR.

    Raises:
        NodeError: It cannot be fetched, and is not here.
    """
    program = engine()
    if "@sha256:" in image and _run([program, "image", "inspect", image], 60).returncode == 0:
        return
    registry = _ECR.match(image)
    if registry:
        _log_in(program, registry[1], registry[2])
    done = _run([program, "pull", "--quiet", image], timeout_s)
    if done.returncode != 0 and _run([program, "image", "inspect", image], 60).returncode != 0:
        raise NodeError(f"{image}: cannot be fetched: {_last(done.stderr)}")


def device_arguments() -> list[str]:
    """Return what a training container needs of the machine: GPUs, EFA, memory, network."""
    half_of_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    # 64 MB of /dev/shm, the default, is too small for NCCL and for the loaders of pictures.
    arguments = ["--network", "host", "--shm-size", str(half_of_memory)]
    has_gpus = Path("/dev/nvidiactl").exists()
    adapters = sorted(str(path) for path in Path("/dev/infiniband").glob("uverbs*"))
    if has_gpus or adapters:
        # NCCL and RDMA lock memory.
        arguments += ["--ulimit", "memlock=-1:-1", "--ulimit", "stack=67108864:67108864"]
    if has_gpus:
        is_podman = Path(engine()).name == "podman"
        arguments += ["--device", "nvidia.com/gpu=all"] if is_podman else ["--gpus", "all"]
    for adapter in adapters:
        arguments += ["--device", adapter]
    return arguments


def run_command(
    name: str,
    image: str,
    arguments: Sequence[str],
    *,
    mark: str,
    variables: Sequence[str],
    mounts: Sequence[str],
) -> list[str]:
    """Return the command that runs a container in the foreground.

    Args:
        name: Of the container.
        image: Its image.
        arguments: Of the image's entry point.
        mark: Value of the label that finds it again.
        variables: Names only: the values come from the engine's own environment, since everybody
            on a machine sees its command lines.
        mounts: `SOURCE:TARGET` with or without `:ro`.
    """
    environment = [word for variable in variables for word in ("--env", variable)]
    volumes = [word for mount in mounts for word in ("--volume", mount)]
    return [
        *(engine(), "run", "--rm", "--name", name, "--label", f"{LABEL}={mark}"),
        *device_arguments(),
        *environment,
        *volumes,
        image,
        *arguments,
    ]


def remove(name: str) -> None:
    """End a container and take it away, if it is there."""
    _run([engine(), "rm", "--force", name], 60)


def containers_of(address: str) -> list[str]:
    """Return the names of all containers of jobs on a host: on one machine there may be several,
    in tests."""
    form = f'{{{{.Names}}}} {{{{.Label "{LABEL}"}}}}'
    done = _run([engine(), "ps", "--all", "--filter", f"label={LABEL}", "--format", form], 60)
    lines = [line.split() for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [line[0] for line in lines if len(line) == 2 and line[1].endswith(f"/{address}")]


def _log_in(program: str, registry: str, region: str) -> None:
    password = _run(["aws", "ecr", "get-login-password", "--region", region], 60)
    if password.returncode != 0:
        raise NodeError(f"{registry}: no access: {_last(password.stderr)}")
    login = [program, "login", "--username", "AWS", "--password-stdin", registry]
    done = _run(login, 60, given=password.stdout)
    if done.returncode != 0:
        raise NodeError(f"{registry}: no access: {_last(done.stderr)}")


def _run(
    command: list[str], timeout_s: float, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, input=given, capture_output=True, check=False, timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        what = " ".join(command[:2])
        raise NodeError(f"{what}: no answer within {timeout_s:g} s") from error


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][-500:] if lines else "it says nothing"
