"""Where Jupyter lives: an environment of its own above the project's, made on first use and kept.

It has what docker/notebook/requirements.txt puts into the image; torch, TensorBoard and the rest of
requirements-train.txt are the project's own.
"""

from __future__ import annotations

import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from tests.charts.rendering import PROJECT
from toolchain.command import cache_folder
from toolchain.files import Stamp, fingerprint, locked
from toolchain.processes import Text, run

REQUIREMENTS = PROJECT / "docker/notebook/requirements.txt"


def jupyter_environment() -> Path:
    """Return the environment's folder, made now where it is not there; half a minute, 200 MB.

    Raises:
        SetupError: pip could not install it; the message says what to do.
    """
    above = sysconfig.get_path("purelib")
    inputs = fingerprint(platform.python_version(), above, str(PROJECT), REQUIREMENTS)
    folder = cache_folder() / "jupyter" / inputs[:12]
    done = Stamp(folder / "complete", inputs)
    with locked(cache_folder() / "locks" / "jupyter", _ignore):
        if not done.is_fresh():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, above)
            done.write()
    return folder


def _make(folder: Path, above: str) -> None:
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", folder],
        [
            python, "-m", "pip", "install", "--no-input", "--no-deps", "--require-hashes",
            "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS,
        ],
    ):  # fmt: skip
        run(
            command,
            log=cache_folder() / "logs" / "jupyter.log",
            progress=_ignore,
            advice="Jupyter needs the network, or a mirror that pip is set up for.",
        )
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    (packages / "project.pth").write_text(f"{PROJECT}\n{above}\n")


def _ignore(_: Text) -> None:
    """Let a line of output go to the log only."""
