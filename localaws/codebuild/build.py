"""One build: its archive is unpacked into a folder of its own, and its commands run there."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from localaws import file_systems
from localaws.cloudformation.aws import Aws
from localaws.environment import variables

PHASES = ("install", "pre_build", "build", "post_build")

_RUNNING: dict[str, Run] = {}
"""Id to what runs in this process: none of it is kept when the server ends."""


@dataclass
class Build:
    """What is known of a build, running or not; it is kept with the other services' state."""

    id: str
    region: str
    source: Mapping[str, Any]
    """Of the project: type, location and name of the build specification."""
    source_version: str
    variables: Mapping[str, str]
    log_group: str
    status: str = "IN_PROGRESS"
    phase: str = "QUEUED"
    problem: str | None = None
    started_s: float = field(default_factory=time.time)
    ended_s: float | None = None

    @property
    def log_stream(self) -> str:
        return self.id.partition(":")[2]

    def start(self) -> None:
        _RUNNING[self.id] = run = Run(self)
        run.start()

    def stop(self) -> None:
        if run := _RUNNING.get(self.id):
            run.stop()

    def look(self) -> None:
        """Notice that the server, and the build with it, ended in between."""
        if self.status == "IN_PROGRESS" and self.id not in _RUNNING:
            self.end("FAULT", "local AWS was stopped while it ran")

    def end(self, status: str, problem: str | None = None) -> None:
        self.status, self.problem, self.ended_s = status, problem, time.time()
        if status == "SUCCEEDED":
            self.phase = "COMPLETED"


class Run(threading.Thread):
    """Runs one build."""

    def __init__(self, build: Build) -> None:
        super().__init__(daemon=True)
        self._build = build
        self._aws = Aws(build.region)
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def run(self) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="localaws-build-", dir="/var/tmp") as folder:
                self._run_in(Path(folder))
        except Exception as error:
            self._build.end("FAILED", str(error))
        finally:
            _RUNNING.pop(self._build.id, None)

    def stop(self) -> None:
        self._is_stopped = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _run_in(self, folder: Path) -> None:
        build = self._build
        build.phase = "DOWNLOAD_SOURCE"
        self._aws.client("logs").create_log_stream(
            logGroupName=build.log_group, logStreamName=build.log_stream
        )
        self._unpack(folder)
        spec = yaml.safe_load((folder / str(build.source["buildspec"])).read_text("utf-8"))
        for phase in PHASES:
            commands = spec["phases"].get(phase, {}).get("commands", [])
            build.phase = phase.upper()
            code = self._run_commands(commands, folder)
            if self._is_stopped:
                build.end("STOPPED")
                return
            if code:
                build.end("FAILED", f"Error while executing the commands. exit status {code}")
                return
        build.end("SUCCEEDED")

    def _unpack(self, folder: Path) -> None:
        bucket, _, key = str(self._build.source["location"]).partition("/")
        answer = self._aws.client("s3").get_object(
            Bucket=bucket, Key=key, VersionId=self._build.source_version
        )
        with zipfile.ZipFile(io.BytesIO(answer["Body"].read())) as archive:
            archive.extractall(folder)

    def _run_commands(self, commands: Sequence[str], folder: Path) -> int:
        """Run the commands of a phase in one shell, as version 0.2 of a specification says."""
        if not commands:
            return 0
        self._process = subprocess.Popen(
            ["/bin/bash", "-e", "-c", "\n".join(commands)],
            cwd=folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._log(line.rstrip("\n"))
        return self._process.wait()

    def _environment(self) -> dict[str, str]:
        """Return this machine's variables, our Python first, and local AWS as AWS."""
        own = str(Path(sys.executable).parent)
        return {
            **os.environ,
            "PATH": f"{own}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            **variables(
                self._aws.client("sts").meta.endpoint_url, file_systems.root(), self._build.region
            ),
            **self._build.variables,
        }

    def _log(self, text: str) -> None:
        if not text:
            return  # CloudWatch takes no empty line.
        self._aws.client("logs").put_log_events(
            logGroupName=self._build.log_group,
            logStreamName=self._build.log_stream,
            logEvents=[{"timestamp": int(time.time() * 1000), "message": text}],
        )
