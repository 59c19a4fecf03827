"""Runs a command on one host, as Systems Manager's agent there does."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import Any

from localaws.hosts.host import Host
from localaws.ssm.command import RunCommand
from localaws.ssm.document import Script

FOLDER = "var/lib/amazon/ssm"


def unit_of(command_id: str) -> str:
    """Return the unit of systemd that runs a command on a host."""
    return f"ssm-{command_id}.service"


def start(host: Host | None, command: RunCommand, instance: Any, script: Script) -> None:
    """Run a command in a thread, which notes in it how far it is."""
    threading.Thread(
        target=_run, args=(host, command, instance, script), daemon=True, name=command.command_id
    ).start()


def _run(host: Host | None, command: RunCommand, instance: Any, script: Script) -> None:
    deadline = time.monotonic() + command.timeout_seconds
    while host is None or not host.is_ready():
        gone = host is None or not host.is_up()
        if gone or time.monotonic() > deadline:
            command.end(instance.id, "DeliveryTimedOut", code=-1, output="", errors="")
            return
        time.sleep(0.1)
    folder = f"{FOLDER}/{instance.id}/document/orchestration/{command.command_id}"
    file = host.root / folder / "_script.sh"
    file.parent.mkdir(parents=True)
    file.write_text(script.text, encoding="utf-8")
    command.begin(instance.id)
    run = ["sh", f"/{folder}/_script.sh"]
    unit = unit_of(command.command_id)
    enter = host.enter(run, unit=unit, limit_s=script.timeout_s, folder=script.folder)
    # By systemd's word, a unit that ran too long was ended by SIGTERM or SIGKILL.
    begun = time.monotonic()
    done = subprocess.run(enter, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if command.of(instance.id)["Status"] == "Cancelled":
        return
    status = "Success" if done.returncode == 0 else "Failed"
    if status == "Failed" and time.monotonic() - begun >= script.timeout_s:
        status = "ExecutionTimedOut"
    command.end(instance.id, status, code=done.returncode, output=output, errors=errors)


def cancel(host: Host | None, command: RunCommand, instance_id: str) -> None:
    """Ask a command to end on a host."""
    if command.of(instance_id)["Status"] not in ("Pending", "InProgress"):
        return
    command.end(instance_id, "Cancelled", code=-1, output="", errors="")
    if host is not None:
        stop = host.enter(["systemctl", "stop", unit_of(command.command_id)])
        subprocess.run(stop, stdin=subprocess.DEVNULL, capture_output=True, check=False)
