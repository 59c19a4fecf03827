"""When the notebook instance stops itself."""

from __future__ import annotations

import importlib.util
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from stacks.constructs.notebook_scripts import ON_START

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z
SCRIPT = ON_START.with_name("stop_when_idle.py")


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stop_when_idle", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """What /proc shows of a machine that has run for ten hours, with one process."""
    folder = tmp_path / "proc"
    folder.mkdir()
    (folder / "uptime").write_text("36000.25 71000.00\n")
    add_process(folder, "1", "/usr/lib/systemd/systemd")
    return folder


def add_process(proc: Path, pid: str, *arguments: str) -> None:
    (proc / pid).mkdir()
    (proc / pid / "cmdline").write_bytes("".join(f"{word}\0" for word in arguments).encode())


def minutes_ago(minutes: float) -> str:
    """Return a moment as Jupyter writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.123456Z", time.gmtime(NOW - 60 * minutes))


def kernel(state: str, minutes: float) -> dict[str, Any]:
    return {"execution_state": state, "last_activity": minutes_ago(minutes), "connections": 1}


def terminal(minutes: float) -> dict[str, Any]:
    return {"name": "1", "last_activity": minutes_ago(minutes)}


@pytest.mark.parametrize(
    ("kernels", "terminals", "idle_minutes"),
    [
        ([], [], 600),
        ([kernel("idle", 90)], [], 90),
        ([kernel("idle", 90), kernel("idle", 30)], [], 30),
        ([kernel("busy", 90)], [], 0),
        ([kernel("idle", 90)], [terminal(45)], 45),
        ([], [terminal(700), terminal(50)], 50),
        ([kernel("starting", 700)], [], 600),
    ],
)
def test_it_is_idle_since_the_last_thing_that_ran(
    kernels: list[Any], terminals: list[Any], idle_minutes: float, script: ModuleType, proc: Path
) -> None:
    answers = {"/api/kernels": kernels, "/api/terminals": terminals}
    script.ask_jupyter = answers.__getitem__  # type: ignore[attr-defined]
    idle = script.idle_s(NOW, proc=proc, last_busy=proc / "nobody-was-busy")
    assert idle / 60 == pytest.approx(idle_minutes, abs=0.1)


@pytest.mark.parametrize(
    "command",
    [
        ["/home/ec2-user/env/bin/python", "-m", "training.launch", "job.yaml", "--wait"],
        ["distributed-mask-rcnn", "-m", "training.data", "stage", "--to", "efs"],
        ["python", "-X", "dev", "-m", "training.images", "build"],
    ],
)
def test_a_command_of_ours_keeps_it_running_and_its_end_is_activity(
    command: list[str],
    script: ModuleType,
    proc: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(script, "ask_jupyter", lambda _: [])
    busy = tmp_path / "busy"
    add_process(proc, "77", *command)
    assert script.idle_s(time.time(), proc=proc, last_busy=busy) < 60

    (proc / "77" / "cmdline").unlink()
    os.utime(busy, (NOW, NOW))
    assert script.idle_s(NOW + 1200, proc=proc, last_busy=busy) == 1200


def test_a_command_of_others_does_not_keep_it_running(script: ModuleType, proc: Path) -> None:
    add_process(proc, "78", "vim", "training.launch")
    add_process(proc, "79", "python", "-m", "http.server")
    add_process(proc, "80", "python", "-m")
    assert not script.our_command_runs(proc)


@pytest.mark.parametrize(
    ("idle", "is_stopped"), [(0.0, False), (3599.0, False), (3600.0, True), (99999.0, True)]
)
def test_it_stops_the_instance_that_it_was_told_and_no_other(
    idle: float, is_stopped: bool, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(script, "idle_s", lambda _: idle)
    monkeypatch.setattr(script.subprocess, "run", run)
    options = ["--notebook", "vision", "--region", "eu-central-1", "--minutes", "60"]
    assert script.main(options) == 0
    stop = [
        *("aws", "sagemaker", "stop-notebook-instance", "--region", "eu-central-1"),
        *("--notebook-instance-name", "vision"),
    ]
    assert commands == ([stop] if is_stopped else [])


@pytest.mark.parametrize(
    "answer", ["<html>sign in</html>", '{"message": "Forbidden"}', "[1]", '[{"id": "k"}]']
)
def test_it_runs_on_where_jupyters_answer_is_not_understood(
    answer: str, script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(script, "ask_jupyter", lambda _: json.loads(answer))
    monkeypatch.setattr(script, "our_command_runs", lambda _: False)
    monkeypatch.setattr(script, "stop", lambda *_: pytest.fail("stopped"))
    assert script.main(["--notebook", "n", "--region", "r", "--minutes", "0"]) == 1
    assert "no word from Jupyter, so the instance runs on" in capsys.readouterr().err


def test_it_runs_on_where_jupyter_does_not_answer(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "JUPYTER", "https://127.0.0.1:1")
    monkeypatch.setattr(script, "our_command_runs", lambda _: False)
    monkeypatch.setattr(script, "stop", lambda *_: pytest.fail("stopped"))
    assert script.main(["--notebook", "n", "--region", "r", "--minutes", "0"]) == 1


class Jupyter(BaseHTTPRequestHandler):
    answers: dict[str, Any] = {  # noqa: RUF012
        "/api/kernels": [{"execution_state": "idle", "last_activity": "2025-12-31T23:00:00Z"}],
        "/api/terminals": [],
    }

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(self.answers[self.path]).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[str]:
    """A server with a certificate of its own, as the instance's Jupyter has."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=own"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    server = HTTPServer(("127.0.0.1", 0), Jupyter)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_asks_a_jupyter_with_a_certificate_of_its_own(
    jupyter: str, script: ModuleType, proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "JUPYTER", jupyter)
    assert script.idle_s(NOW, proc=proc, last_busy=tmp_path / "busy") == 3600


def test_its_help_says_what_it_does() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=True
    )
    assert "Stops this notebook instance when nothing has run on it for long enough." in done.stdout
