"""Stops this notebook instance when nothing has run on it for long enough.

A timer runs it every few minutes, as root, with the system's Python (3.9) and nothing installed.
Activity is what Jupyter reports of kernels and terminals, and a command of this project that runs:
a launch that waits, a copy, an image that is built. An open browser tab alone is none. Where
Jupyter's answer cannot be had or read, the instance is left running: stopping it under its user
costs more than the hours that it runs on.
"""

from __future__ import annotations

import argparse
import calendar
import json
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

JUPYTER = "https://localhost:8443"
"""Where Jupyter listens on a notebook instance."""

TIMEOUT_S = 20

OUR_COMMANDS = ("training.launch", "training.data", "training.images", "training.jobs")

PROC = Path("/proc")
LAST_BUSY = Path("/run/distributed-mask-rcnn-last-busy")
"""Touched whenever a command of ours is seen: its end is activity too."""


def ask_jupyter(path: str) -> list[dict[str, Any]]:
    # Its certificate is its own, and nothing leaves this machine.
    context = ssl._create_unverified_context()  # noqa: S323
    with urllib.request.urlopen(  # noqa: S310
        JUPYTER + path, timeout=TIMEOUT_S, context=context
    ) as answer:
        listed: list[dict[str, Any]] = json.load(answer)
    return listed


def seconds_since(moment: str, now: float) -> float:
    """Args: `moment` is Jupyter's, such as `2026-01-31T09:30:00.123456Z`."""
    whole_seconds = moment.rstrip("Z").partition(".")[0]
    return now - calendar.timegm(time.strptime(whole_seconds, "%Y-%m-%dT%H:%M:%S"))


def idle_times_s(
    kernels: Sequence[dict[str, Any]], terminals: Sequence[dict[str, Any]], now: float
) -> Iterator[float]:
    """Yield for how long each has been idle; 0 is busy."""
    for kernel in kernels:
        is_busy = kernel["execution_state"] == "busy"
        yield 0.0 if is_busy else seconds_since(kernel["last_activity"], now)
    for terminal in terminals:
        yield seconds_since(terminal["last_activity"], now)


def our_command_runs(proc: Path = PROC) -> bool:
    """Whether any process runs one of our modules (`python -m training.launch`)."""
    for file in proc.glob("[0-9]*/cmdline"):
        try:
            arguments = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # It has ended.
        if "-m" in arguments[:-1]:
            module = arguments[arguments.index("-m") + 1]
            if module.startswith(OUR_COMMANDS):
                return True
    return False


def uptime_s(proc: Path = PROC) -> float:
    return float((proc / "uptime").read_text().split()[0])


def idle_s(now: float, *, proc: Path = PROC, last_busy: Path = LAST_BUSY) -> float:
    """Return for how many seconds nothing has run.

    Raises:
        OSError: Jupyter does not answer.
        ValueError, KeyError, TypeError: It answers something else than lists of what runs.
    """
    times = [uptime_s(proc)]
    if our_command_runs(proc):
        last_busy.touch()
    if last_busy.exists():
        times.append(now - last_busy.stat().st_mtime)
    times += idle_times_s(ask_jupyter("/api/kernels"), ask_jupyter("/api/terminals"), now)
    return min(times)


def stop(notebook: str, region: str) -> int:
    command = ["aws", "sagemaker", "stop-notebook-instance", "--region", region]
    return subprocess.run([*command, "--notebook-instance-name", notebook], check=False).returncode


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--notebook", required=True, help="name of this instance")
    parser.add_argument("--region", required=True)
    parser.add_argument("--minutes", required=True, type=int, help="of idleness before it stops")
    options = parser.parse_args(arguments)
    try:
        idle = idle_s(time.time())
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"no word from Jupyter, so the instance runs on: {error!r}\n")
        return 1
    sys.stdout.write(f"idle for {idle / 60:.0f} of {options.minutes} minutes\n")
    return stop(options.notebook, options.region) if idle >= options.minutes * 60 else 0


if __name__ == "__main__":
    sys.exit(main())
