"""A shell or a command as root on a host: `python -m localaws.hosts.shell INSTANCE [COMMAND …]`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import psutil
import typer

from localaws import process
from localaws.folders import DEFAULT_STATE_DIR, StateDirectory
from training.cli import new_app, run
from training.errors import UsageError

app = new_app("A shell on a host of local AWS.")


def init_of(server_pid: int, instance_id: str) -> int:
    """Return the process id of a host's init.

    Raises:
        UsageError: There is no such host.
    """
    for child in psutil.Process(server_pid).children():
        command = child.cmdline()
        if any(part.endswith(f"/run/hosts/{instance_id}") for part in command):
            for below in child.children(recursive=True):
                if below.name() == "systemd":
                    return below.pid
    raise UsageError(f"{instance_id}: no host of this instance runs")


@app.command(context_settings={"allow_interspersed_args": False})
def shell(
    instance_id: Annotated[str, typer.Argument(help="The host, by its instance's id.")],
    command: Annotated[
        list[str] | None, typer.Argument(help="Program and arguments; bash by default.")
    ] = None,
    state_dir: Annotated[
        Path,
        typer.Option(help="Folder of the local AWS.", show_default=".localaws in the project"),
    ] = DEFAULT_STATE_DIR,
) -> None:
    """Open a shell, or run a command, as root on a host. Options come before INSTANCE_ID."""
    server = process.find(StateDirectory(state_dir.absolute()))
    if server is None:
        raise UsageError(f"no local AWS runs in {state_dir}")
    target = f"--target={init_of(server.pid, instance_id)}"
    spaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"]
    # The terminal becomes the host's.
    words = ["nsenter", target, *spaces, "--", *(command or ["bash"])]
    os.execvp("nsenter", words)  # noqa: S606, S607


if __name__ == "__main__":
    run(app)
