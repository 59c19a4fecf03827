"""The AWS command line for one test: answers as told, and keeps what it was asked."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = """#!{python} -IS
import json, pathlib, sys, time
folder = pathlib.Path({folder!r})
arguments = sys.argv[1:]
files = {{one: open(one[7:]).read() for one in arguments if one.startswith("file://")}}
with open(folder / "calls", "a") as calls:
    calls.write(json.dumps([arguments, files]) + "\\n")
answers = json.loads((folder / "answers").read_text())[arguments[1]]
count = sum(json.loads(line)[0][1] == arguments[1] for line in open(folder / "calls"))
answer = answers[min(count, len(answers)) - 1]
if answer == "hang":
    time.sleep(1000)
if isinstance(answer, list):
    sys.exit("\\nAn error occurred (%s) when calling an operation: %s" % tuple(answer))
sys.stdout.write(answer if isinstance(answer, str) else json.dumps(answer))
"""


@dataclass
class AwsFake:
    folder: Path

    def answers(self, **answers: list[Any]) -> None:
        """Set the answers of each operation, the last of them for ever.

        A list of two is an error: its code and its message.
        """
        table = {name.replace("_", "-"): several for name, several in answers.items()}
        (self.folder / "answers").write_text(json.dumps(table))

    @property
    def calls(self) -> list[list[str]]:
        return [arguments for arguments, _ in self._recorded()]

    @property
    def files(self) -> list[dict[str, str]]:
        """Of each call, what was in the files that it named."""
        return [files for _, files in self._recorded()]

    def _recorded(self) -> list[Any]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AwsFake:
    """Put it first in PATH."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "aws"
    python = Path(sys.base_prefix) / "bin" / "python3"
    program.write_text(_SCRIPT.format(python=python, folder=str(folder)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    return AwsFake(folder)
