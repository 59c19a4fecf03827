"""Runs the cells of a notebook with a recorder in place of commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import training.notebook
from tests.notebooks.reading import choose, code_of, read


class Recorder:
    """Stands for `training.notebook`: it writes down commands, and runs none."""

    def __init__(self, log: Path, commands: list[tuple[str, ...]], *, has_data: bool) -> None:
        self.commands = commands
        self._log = log
        self._has_data = has_data

    def look_around(self) -> Recorder:
        return self

    def run(self, module: str, *arguments: str | Path) -> None:
        self.commands.append((module, *map(str, arguments)))

    def has_data(self, source: str, files: str = "*") -> bool:
        return self._has_data

    def log(self, source: str, job_name: str) -> Path:
        return self._log


def commands_of(
    name: str,
    choice: Mapping[str, str],
    folder: Path,
    *,
    has_data: bool = False,
    stop: bool = False,
    ran: list[tuple[str, ...]] | None = None,
) -> list[tuple[str, ...]]:
    """Return the commands that a notebook runs, each as its module and arguments.

    Args:
        name: Of the notebook.
        choice: The constants that a user sets otherwise.
        folder: The notebook's folder, with `home` in it, and the log channel of its job, `log`.
        has_data: Whether data was staged before.
        stop: Whether the job is to be stopped.
        ran: Gets the commands too, for a notebook that does not come to its end.
    """
    notebook = read(name)
    choose(notebook, choice)
    (folder / "log").mkdir()
    (folder / "log" / "report.html").touch()
    recorder = Recorder(folder / "log", [] if ran is None else ran, has_data=has_data)
    values: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        patch.chdir(folder)
        patch.setattr(training.notebook, "look_around", recorder.look_around)
        patch.setattr(training.notebook, "run", recorder.run)
        for cell_id, source in code_of(notebook).items():
            changed = source.replace("STOP = False", "STOP = True") if stop else source
            exec(compile(changed, cell_id, "exec"), values)
    return recorder.commands
