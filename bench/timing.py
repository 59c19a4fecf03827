"""Time a command against a base command: alternating runs, medians and their ratio.

Two commands that are run one after the other meet the same load, caches and clock speed, so their
ratio holds still where the seconds do not. Every run is a new process, so the time is what a user
waits: interpreter start, imports, work, exit.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from training.report.environment import describe_machine


@dataclass(frozen=True)
class Command:
    """A command to time."""

    label: str
    argv: tuple[str, ...]
    exit_codes: tuple[int, ...] = (0,)
    """Exit codes that count as a run; any other stops the measurement."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of both commands, in the order of the runs, and the verdict."""

    subject: Command
    base: Command
    subject_s: tuple[float, ...]
    base_s: tuple[float, ...]
    at_most: float | None
    """The ratio that the subject may reach, None where there is no target."""

    @property
    def ratio(self) -> float:
        """Median of the subject over median of the base."""
        return median(self.subject_s) / median(self.base_s)

    @property
    def passed(self) -> bool:
        return self.at_most is None or self.ratio <= self.at_most

    def to_json(self) -> dict[str, Any]:
        return {
            "subject": _timing(self.subject, self.subject_s),
            "base": _timing(self.base, self.base_s),
            "ratio": round(self.ratio, 3),
            "at_most": self.at_most,
            "passed": self.passed,
        }

    def to_text(self) -> str:
        target = "" if self.at_most is None else f" (target: at most {self.at_most:g})"
        verdict = "" if self.passed else "  MISSED"
        return "\n".join(
            [
                _line(self.subject, self.subject_s),
                _line(self.base, self.base_s),
                f"  ratio {self.ratio:.2f}{target}{verdict}",
            ]
        )


class RunFailed(Exception):
    """A timed command ended with an exit code that its measurement does not allow."""


def compare(
    subject: Command,
    base: Command,
    *,
    runs: int = 11,
    warmups: int = 1,
    at_most: float | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] = lambda: None,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Run base and subject in turn and return their times.

    Args:
        subject: What is judged.
        base: What it is compared with.
        runs: Timed runs of each.
        warmups: Runs of each before them, not counted: they fill the caches of files and bytecode.
        at_most: The ratio that the subject may reach.
        cwd: The directory to run in.
        env: Variables on top of this process's.
        before: Called before each run, and not timed.
        progress: Called with a line of text after each pair.

    Raises:
        RunFailed: A run ended with an exit code that its command does not allow.
    """
    environment = {**os.environ, **(env or {})}
    subject_s: list[float] = []
    base_s: list[float] = []
    for pair in range(-warmups, runs):
        before()
        base_run = _run_once(base, cwd, environment)
        before()
        subject_run = _run_once(subject, cwd, environment)
        if pair >= 0:
            base_s.append(base_run)
            subject_s.append(subject_run)
            progress(f"{subject.label}: pair {pair + 1} of {runs}")
    return Comparison(subject, base, tuple(subject_s), tuple(base_s), at_most)


def report(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return everything as one JSON object."""
    return {"machine": describe_here(), "comparisons": [one.to_json() for one in comparisons]}


def report_text(comparisons: Sequence[Comparison]) -> str:
    """Return everything as text for people."""
    here = describe_here()
    head = (
        f"{here['cores']} cores, {here['cpu']}, load {here['load_1m']}, Python {here['python']}, "
        f"{here['system']}"
    )
    return "\n\n".join([head, *(one.to_text() for one in comparisons)])


def python(*arguments: str) -> tuple[str, ...]:
    """Return the command line of this very interpreter with arguments."""
    return (sys.executable, *arguments)


def output_of(
    argv: Sequence[str], *, label: str, cwd: Path, variables: Mapping[str, str] | None = None
) -> str:
    """Run a command that measures itself, and return what it printed.

    Args:
        argv: The command.
        label: What a failure calls it.
        cwd: Where it runs.
        variables: Of the environment, on top of this process's.

    Raises:
        RunFailed: It ended in an error.
    """
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RunFailed(f"{label}: exit code {done.returncode}\n{done.stderr[-1500:]}")
    return done.stdout


def _run_once(command: Command, cwd: Path | None, environment: Mapping[str, str]) -> float:
    """Run a command to its end and return the seconds it took."""
    started = time.perf_counter()
    done = subprocess.run(
        command.argv,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    took = time.perf_counter() - started
    if done.returncode not in command.exit_codes:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-5:]
        raise RunFailed(
            f"{command.label}: exit code {done.returncode}, allowed are "
            f"{', '.join(map(str, command.exit_codes))}\n" + "\n".join(last)
        )
    return took


def _timing(command: Command, seconds: Sequence[float]) -> dict[str, Any]:
    return {
        **asdict(command),
        "median_s": round(median(seconds), 4),
        "best_s": round(min(seconds), 4),
        "worst_s": round(max(seconds), 4),
        "runs": len(seconds),
    }


def _line(command: Command, seconds: Sequence[float]) -> str:
    return (
        f"  {command.label:<28} median {median(seconds):.3f} s  "
        f"(best {min(seconds):.3f}, worst {max(seconds):.3f}, {len(seconds)} runs)"
    )


def describe_here() -> dict[str, Any]:
    """Say where figures were taken."""
    return {
        **describe_machine(),
        "python": platform.python_version(),
        "load_1m": round(os.getloadavg()[0], 2),
    }
