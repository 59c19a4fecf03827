"""The set-up as a list of steps."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from toolchain import debian, machine
from toolchain.cdk_cli import CdkCli
from toolchain.debian import Package
from toolchain.environment import EVERYTHING, Environment
from toolchain.errors import Interrupted, SetupError
from toolchain.files import locked, make_writable_folder
from toolchain.processes import process_tree
from toolchain.steps import Step, run_steps

PROJECT = Path(__file__).resolve().parents[1]

EXIT_SETUP = 2
EXIT_INTERRUPTED = 130

PACKAGES: dict[str, tuple[Package, ...]] = {
    "cdk": (debian.VENV,),
    "demo": (debian.VENV, *debian.HOROVOD),
    "test": (debian.VENV, *debian.HOROVOD, *debian.TESTS, *debian.CONTAINERS, *debian.HOSTS),
}
"""What the set-up can be for, and the Debian packages that each takes."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m toolchain", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("setup", help="install what the project needs")
    command.add_argument(
        "--for",
        dest="purpose",
        choices=list(PACKAGES),
        default="test",
        help="cdk: synthesize and deploy only; demo: train too; test: all (default)",
    )
    purpose = parser.parse_args(arguments).purpose
    try:
        with process_tree():
            setup(PROJECT, purpose)
    except SetupError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_SETUP
    except Interrupted:
        sys.stderr.write("interrupted; run it again to go on\n")
        return EXIT_INTERRUPTED
    return 0


def setup(project: Path, purpose: str) -> None:
    """Make the machine ready for a purpose; what is done already takes milliseconds.

    Raises:
        SetupError: Something is missing or failed.
    """
    cache = cache_folder()
    log = cache / "logs" / f"{_short_hash(project)}.log"
    environment = Environment(
        project=project,
        requirements="requirements.txt" if purpose == "cdk" else EVERYTHING,
        wheels=cache / "wheels",
        log=log,
    )
    cdk_cli = CdkCli(project, log)
    packages = debian.missing(PACKAGES[purpose])
    check_machine(environment, packages, cache)
    make_writable_folder(log.parent, "Set XDG_CACHE_HOME to a folder that you may write.")

    steps = [
        Step(
            "Debian packages",
            lambda progress: debian.install(packages, log=log, progress=progress),
            is_done=lambda: not packages,
        ),
        Step("Virtual environment", environment.create, is_done=environment.is_usable),
        Step("Python packages", environment.install_packages, is_done=environment.has_packages),
        Step("CDK CLI", cdk_cli.install, is_done=cdk_cli.is_installed),
    ]
    if purpose != "cdk":
        steps.append(
            Step(
                "Horovod (first build: minutes)",
                environment.install_horovod,
                is_done=environment.has_horovod,
            )
        )
    with locked(cache / "locks" / _short_hash(project), _say):
        log.unlink(missing_ok=True)
        if packages:
            _say(f"missing Debian packages, installed now: {' '.join(p.name for p in packages)}")
        run_steps(steps)


def check_machine(environment: Environment, packages: Sequence[Package], cache: Path) -> None:
    """Check at once all that the set-up cannot install itself.

    Raises:
        SetupError: Something is missing; the message names all of it.
    """
    is_first = not (environment.is_usable() and environment.has_packages())
    complaints = [
        machine.check_python(sys.version_info[:2]),
        machine.check_node(),
        debian.check_installable(packages),
        *machine.check_disk(
            [environment.folder, cache, pip_cache_folder()],
            machine.INSTALL_BYTES if is_first else machine.RUN_BYTES,
        ),
    ]
    found = [complaint for complaint in complaints if complaint]
    if found:
        raise SetupError("\nerror: ".join(found))


def cache_folder() -> Path:
    """Return where things live that later clones use too."""
    return _caches() / "distributed-mask-rcnn"


def pip_cache_folder() -> Path:
    return Path(os.environ.get("PIP_CACHE_DIR") or _caches() / "pip")


def _caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _short_hash(project: Path) -> str:
    return hashlib.sha256(str(project).encode()).hexdigest()[:12]


def _say(text: object) -> None:
    sys.stderr.write(f"{text}\n")
