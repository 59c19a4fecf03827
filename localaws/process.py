"""Starts, finds and stops the server's process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil

from localaws.folders import PROJECT_ROOT, StateDirectory
from localaws.gateway import STATUS_PATH
from localaws.hosts import requirements
from training.errors import AwsError, ExitCode, UsageError

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 120.0
"""Saving writes every object of every bucket."""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    pid: int
    endpoint: str

    def inventory(self) -> dict[str, Any]:
        """Return the file systems and stacks that it has.

        Raises:
            AwsError: It does not answer.
        """
        # A proxy from the environment must not see requests to this machine.
        opener = build_opener(ProxyHandler({}))
        try:
            with opener.open(self.endpoint + STATUS_PATH, timeout=10) as response:
                inventory: dict[str, Any] = json.load(response)
        except (URLError, TimeoutError, ConnectionError) as error:
            raise AwsError(
                f"{self.endpoint}: process {self.pid} does not answer ({error})"
            ) from error
        return inventory


def find(directory: StateDirectory) -> Server | None:
    """Return the server of a state directory, if it runs."""
    try:
        record = json.loads(directory.record.read_text(encoding="utf-8"))
        process = psutil.Process(record["pid"])
        # The same pid with another start time is a stranger, whom nobody may stop.
        is_ours = abs(process.create_time() - record["create_time"]) < 1.0
        if not is_ours or process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Server(record["pid"], record["endpoint"])
    except (OSError, RecursionError, ValueError, KeyError, TypeError, psutil.NoSuchProcess):
        return None


def start(directory: StateDirectory, port: int, *, hosts: bool = False) -> Server:
    """Start a server in a process of its own and wait until it answers.

    Raises:
        UsageError: The port or the folder cannot be used, the kept state cannot be read, or this
            machine cannot run the hosts.
    """
    if hosts and (lacking := requirements.missing()):
        raise UsageError(f"--hosts: {lacking}")
    _prepare(directory)
    with directory.log.open("ab") as log:
        begin = log.tell()
        options = ["hosts"] if hosts else []
        process = subprocess.Popen(
            [sys.executable, "-m", "localaws.server", str(directory.root), str(port), *options],
            cwd=PROJECT_ROOT,
            env=_clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C in the terminal is for what runs there, not for the server.
            start_new_session=True,
        )
    try:
        return _wait_until_ready(directory, process, begin)
    except BaseException:
        process.terminate()
        process.wait()
        raise


def _prepare(directory: StateDirectory) -> None:
    try:
        directory.file_systems.mkdir(parents=True, exist_ok=True)
        directory.record.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"--state-dir {directory.root}: cannot be used ({error.strerror}). Name a folder that "
            "you may write to"
        ) from error


def _clean_environment() -> dict[str, str]:
    """Return the environment without what would send the server's own requests elsewhere."""
    foreign = ("AWS_", "MOTO_", "TEST_SERVER_MODE")
    own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {
        **own,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "PYTHONUNBUFFERED": "1",
        # `cdk bootstrap` attaches policies of AWS.
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
        # 1,300 of them a region would fill the state, and nobody asks for one.
        "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
        # No web page may talk to it.
        "MOTO_DISABLE_GLOBAL_CORS": "true",
    }


def _wait_until_ready(
    directory: StateDirectory, process: subprocess.Popen[bytes], log_begin: int
) -> Server:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise UsageError(_why(directory.log, log_begin, process.returncode))
        server = find(directory)
        if server is not None and server.pid == process.pid:
            server.inventory()
            return server
        time.sleep(0.05)
    raise UsageError(
        f"local AWS did not start within {START_TIMEOUT_S:.0f} s; its log is {directory.log}"
    )


def _why(log: Path, begin: int, returncode: int) -> str:
    """Return what the server said before it left: its last line, if it meant to tell us."""
    with log.open("rb") as file:
        file.seek(begin)
        lines = file.read().decode(errors="replace").strip().splitlines()
    if returncode == ExitCode.USAGE and lines:
        return lines[-1]
    last = lines[-1] if lines else "no message"
    return f"local AWS did not start ({last}); its log is {log}"


def stop(directory: StateDirectory) -> bool:
    """Stop the server, which saves its state; return whether one ran.

    Raises:
        AwsError: It does not stop.
    """
    server = find(directory)
    if server is None:
        directory.record.unlink(missing_ok=True)
        return False
    process = psutil.Process(server.pid)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT_S)
    except psutil.TimeoutExpired as error:
        raise AwsError(
            f"process {server.pid} does not stop; it may still be saving. Its log: {directory.log}"
        ) from error
    if directory.record.exists():
        directory.record.unlink(missing_ok=True)
        raise AwsError(
            f"local AWS stopped, but could not save its state; its log is {directory.log}. What "
            "was kept before is still there"
        )
    return True


def end(directory: StateDirectory) -> bool:
    """Stop the server, which saves nothing; return whether one ran."""
    server = find(directory)
    # A server without its record leaves without saving (localaws/server.py).
    directory.record.unlink(missing_ok=True)
    if server is None:
        return False
    process = psutil.Process(server.pid)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait()
    return True


def discard(directory: StateDirectory) -> None:
    """Throw away the state and the file systems of a server that does not run."""
    halves = [path.with_suffix(".new") for path in (directory.backends, directory.record)]
    whole = [directory.backends, directory.log, directory.record, directory.lock]
    for path in (*halves, *whole, directory.file_systems, directory.consoles):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
