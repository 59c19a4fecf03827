"""The container engine of this machine: podman, docker or buildah, whichever is there.

Commands are lists of arguments; what is asked of an engine is the same for all three.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.errors import PreflightError

BUILDERS = ("podman", "docker", "buildah")
RUNNERS = ("podman", "docker")
"""buildah builds images only."""

STDERR = 2
"""Where what an engine says goes: stdout is for results."""

_ANSWER_S = 60
"""Seconds for a question; a daemon that hangs is no engine."""

_PODMAN_FILES = 1_048_576
"""Open files that podman asks for when it runs as root, and processes; without CAP_SYS_RESOURCE the
kernel refuses what is above the caller's own limit."""

_HYBRID = Path("/sys/fs/cgroup/unified/cgroup.controllers")
"""There where control groups are in hybrid mode: version 1, with a mount of version 2 beside it."""

_PID_MAX = Path("/proc/sys/kernel/pid_max")
"""podman takes its own limit of processes down to it, so that no container can get more."""


@dataclass(frozen=True)
class Engine:
    """One engine that answers."""

    name: str
    program: str
    options: tuple[str, ...] = ()
    """Between the program and its command."""

    def argv(self, *words: str) -> list[str]:
        return [self.program, *self.options, *words]

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a short command and return its result, whatever it is; 124 where there is none."""
        argv = self.argv(*words)
        try:
            return subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_ANSWER_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(argv, 124, "", f"no answer in {_ANSWER_S} s")

    def has_image(self, image: str) -> bool:
        words = ("inspect", "--type", "image") if self.name == "buildah" else ("image", "inspect")
        return self.ask(*words, image).returncode == 0

    def limits(self) -> tuple[str, ...]:
        """Return the arguments that keep a container within this process's own limits."""
        if self.name == "docker":  # its daemon has limits of its own
            return ()
        files = _within(resource.RLIMIT_NOFILE, _PODMAN_FILES)
        processes = _within(resource.RLIMIT_NPROC, int(_PID_MAX.read_text(encoding="ascii")))
        return (
            *("--ulimit", f"nofile={files}:{files}"),
            *("--ulimit", f"nproc={processes}:{processes}"),
        )

    def storage(self) -> Path:
        """Return the folder that holds the layers of images."""
        if self.name == "docker":
            return Path(self.ask("info", "--format", "{{.DockerRootDir}}").stdout.strip() or "/")
        answer = self.ask("info", *(() if self.name == "buildah" else ("--format", "json")))
        store = json.loads(answer.stdout or "{}").get("store", {})
        return Path(store.get("GraphRoot") or store.get("graphRoot") or "/")


def find_engine(wanted: str | None, names: Sequence[str]) -> Engine:
    """Return the engine of that name, or the first one that answers.

    Raises:
        PreflightError: There is none.
    """
    complaints: list[str] = []
    for name in (wanted,) if wanted else names:
        found = _try(name)
        if isinstance(found, Engine):
            return found
        complaints.append(found)
    raise PreflightError(
        f"there is no container engine here that works: {'; '.join(complaints)}. "
        f"Install one of {', '.join(names)} (on Debian: apt-get install podman)."
    )


def _try(name: str) -> Engine | str:
    """Return the engine, or why there is none."""
    program = shutil.which(name)
    if program is None:
        return f"{name} is not installed"
    engine = Engine(name, program, _runtime(name))
    question = ("version", "--format", "{{.Server.Version}}") if name == "docker" else ("version",)
    try:
        answer = engine.ask(*question)
    except OSError as error:
        return f"{name} does not answer ({error})"
    if answer.returncode:
        said = (answer.stderr or answer.stdout).strip().splitlines()
        return f"{name} is installed but says: {said[-1] if said else answer.returncode}"
    return engine


def _runtime(name: str) -> tuple[str, ...]:
    """Return the option that names a runtime, where the default one would refuse.

    crun does not start a container where control groups are in hybrid mode; runc does.
    """
    if name == "podman" and _HYBRID.exists() and shutil.which("runc"):
        return ("--runtime", "runc")
    return ()


def _within(kind: int, most: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return most if hard == resource.RLIM_INFINITY else min(hard, most)


def environment() -> dict[str, str]:
    """Return the variables of an engine's own process: without AWS's, which no image needs."""
    return {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
