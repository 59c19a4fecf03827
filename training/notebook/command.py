"""Runs this project's command lines from a cell.

`!python -m ...` would do it through a shell, which takes quotes, `$` and `;` of a value for its
own, and goes on to the next cell where the command failed.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from training.notebook.told import Told


def run(module: str, *arguments: str | os.PathLike[str]) -> None:
    """Run `python -m MODULE ARGUMENTS...`, and show line by line what it prints.

    Interrupting the kernel interrupts the command, as Ctrl-C does in a terminal: Jupyter sends the
    signal to both. A command that does not end then is ended by a second interrupt.

    Args:
        module: Such as `training.launch`.
        arguments: Each is one argument, whatever characters it has: no shell sees it.

    Raises:
        Told: It ended with another exit code than 0, so that "Run All" stops here.
    """
    words = ["-m", module, *(os.fspath(argument) for argument in arguments)]
    sys.stdout.write(f"$ {shlex.join(['python', *words])}\n")
    with subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=_environment(),
    ) as process:
        _show_to_the_end(process)
    if process.returncode:
        raise Told(
            f"python -m {module} ended with exit code {process.returncode}; what it said is above"
        )


def _environment() -> dict[str, str]:
    """Return the kernel's own, but for what makes a command take the cell for a terminal.

    A cell has no cursor that a progress bar could move.
    """
    terminal = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR")  # The kernel sets them.
    kept = {name: value for name, value in os.environ.items() if name not in terminal}
    return kept | {"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}


def _show_to_the_end(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    with _interrupts_left_to(process):
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()


@contextmanager
def _interrupts_left_to(process: subprocess.Popen[str]) -> Iterator[None]:
    """Leave the first interrupt to the command, which has got it too; end it at the next.

    KeyboardInterrupt would lose the line that is just being shown.
    """
    interrupts = 0

    def hear(*_: object) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            process.terminate()

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
