"""A base image made from Debian's own packages, where no image registry can be reached."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from training.container_engine import STDERR, Engine, environment
from training.errors import JobFailed, PreflightError

DEBIAN = "debian"
"""The option's value that asks for it."""

RELEASE = "bookworm"
"""As in the Dockerfile."""

NAME = f"localhost/mask-rcnn/base-{RELEASE}:{platform.machine()}"


def make(engine: Engine, tell: Callable[[str], None]) -> str:
    """Return the name of the base image, made now unless it is there.

    Raises:
        PreflightError: mmdebstrap is missing.
        JobFailed: It, or the engine, failed.
    """
    if engine.has_image(NAME):
        return NAME
    program = shutil.which("mmdebstrap")
    if program is None:
        raise PreflightError(
            "mmdebstrap is missing, which makes a base image from Debian's packages: "
            "apt-get install mmdebstrap; or name a base image: --base-image IMAGE"
        )
    if engine.name == "buildah":
        raise PreflightError(
            "buildah cannot import a base image: use --engine podman, or name one: --base-image"
        )
    with tempfile.TemporaryDirectory(prefix="mask-rcnn-base-", dir="/var/tmp") as folder:
        archive = Path(folder) / "base.tar"
        tell(f"making a base image from Debian's packages: {NAME}")
        _run([program, "--variant=minbase", "--include=ca-certificates", RELEASE, str(archive)])
        _run(engine.argv("import", str(archive), NAME))
    return NAME


def _run(argv: list[str]) -> None:
    code = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=STDERR,
        env=environment(),
        check=False,
    ).returncode
    if code:
        raise JobFailed(f"{' '.join(argv)}: exit code {code}")
