"""Where the scanners live: an environment of their own, made on first use and kept in the cache."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from toolchain.command import cache_folder
from toolchain.files import Stamp, fingerprint, locked
from toolchain.processes import Text, run

REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements-scan.txt"


@dataclass(frozen=True)
class ScannerEnvironment:
    """A virtual environment with what requirements-scan.txt names.

    Attributes:
        folder: The environment.
    """

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name

    @property
    def packages(self) -> Path:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / name / "site-packages"


def scanner_environment() -> ScannerEnvironment:
    """Return the environment, made now where it is not there; half a minute and 300 MB.

    Raises:
        SetupError: pip could not install it; the message says what to do.
    """
    inputs = fingerprint(platform.python_version(), REQUIREMENTS)
    environment = ScannerEnvironment(cache_folder() / "scanners" / inputs[:12])
    done = Stamp(environment.folder / "complete", inputs)
    with locked(cache_folder() / "locks" / "scanners", _ignore):
        if not done.is_fresh():
            shutil.rmtree(environment.folder, ignore_errors=True)
            _make(environment)
            done.write()
    return environment


def _make(environment: ScannerEnvironment) -> None:
    log = cache_folder() / "logs" / "scanners.log"
    advice = "The scanners need the network, or a mirror that pip is set up for."
    for command in (
        [sys.executable, "-m", "venv", environment.folder],
        [
            environment.python, "-m", "pip", "install", "--no-input", "--no-deps", "--quiet",
            "--disable-pip-version-check", "--requirement", REQUIREMENTS,
        ],
    ):  # fmt: skip
        run(command, log=log, progress=_ignore, advice=advice)


def _ignore(_: Text) -> None:
    """Let a line of output go to the log only."""
