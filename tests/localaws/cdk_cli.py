"""The real CDK CLI against local AWS."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT, LocalAws

CLI = shutil.which("cdk", path=f"{ROOT / 'node_modules/.bin'}:{os.environ.get('PATH', '')}")

TIMEOUT_S = 240


@dataclass(frozen=True)
class Cdk:
    """The CLI in a folder, which may have a cdk.json."""

    aws: LocalAws
    folder: Path

    def __call__(self, *arguments: str, assembly: Path | None = None) -> str:
        """Run a command that must succeed, and return all that it printed."""
        answer = self.run(*arguments, assembly=assembly)
        assert answer.returncode == 0, answer.stdout
        return answer.stdout

    def fail(self, *arguments: str, assembly: Path | None = None) -> str:
        """Run a command that must fail, and return all that it printed, on one line."""
        answer = self.run(*arguments, assembly=assembly)
        assert answer.returncode == 1, answer.stdout
        return " ".join(answer.stdout.split())

    def run(
        self, *arguments: str, assembly: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        with self._start(*arguments, assembly=assembly) as process:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        return subprocess.CompletedProcess(arguments, process.returncode, output)

    def kill_when_it_prints(self, text: str, *arguments: str, assembly: Path | None = None) -> None:
        """Run a command and kill it where it prints a text."""
        with self._start(*arguments, assembly=assembly) as process:
            too_long = threading.Timer(TIMEOUT_S, process.kill)
            too_long.start()
            assert process.stdout
            printed = []
            for line in process.stdout:
                printed.append(line)
                if text in line:
                    break
            process.kill()
            too_long.cancel()
        assert text in "".join(printed[-1:]), "".join(printed)

    def _start(self, *arguments: str, assembly: Path | None) -> subprocess.Popen[str]:
        assert CLI is not None
        app = ["--app", str(assembly)] if assembly else []
        return subprocess.Popen(
            [CLI, *arguments, *app],
            cwd=self.folder,
            env=self.aws.process_env() | {"CI": "true", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
