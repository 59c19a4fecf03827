"""Where an SDK lives: an environment of its own, made on first use and kept in the cache."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from toolchain.command import cache_folder
from toolchain.files import Stamp, fingerprint, locked
from toolchain.processes import Text, run

HERE = Path(__file__).parent


def run_in_environment(name: str, given: Any = None) -> Any:
    """Run `<name>.py` of this folder with what `<name>.txt` names, and return what it prints.

    Args:
        name: Of the script.
        given: JSON for its standard input.

    Raises:
        SetupError: pip could not install the packages; the message says what to do.
    """
    done = subprocess.run(
        [_python(name), HERE / f"{name}.py"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _python(name: str) -> Path:
    requirements = HERE / f"{name}.txt"
    inputs = fingerprint(platform.python_version(), requirements)
    folder = cache_folder() / "sdks" / f"{name}-{inputs[:12]}"
    done = Stamp(folder / "complete", inputs)
    with locked(cache_folder() / "locks" / "sdks", _ignore):
        if not done.is_fresh():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, requirements)
            done.write()
    return folder / "bin" / "python"


def _make(folder: Path, requirements: Path) -> None:
    log = cache_folder() / "logs" / f"{requirements.stem}.log"
    advice = "The SDKs need the network, or a mirror that pip is set up for."
    for command in (
        [sys.executable, "-m", "venv", folder],
        [
            folder / "bin" / "python", "-m", "pip", "install", "--no-input", "--no-deps", "--quiet",
            "--disable-pip-version-check", "--requirement", requirements,
        ],
    ):  # fmt: skip
        run(command, log=log, progress=_ignore, advice=advice)


def _ignore(_: Text) -> None:
    """Let a line of output go to the log only."""
