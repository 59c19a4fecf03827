"""`python -m localaws start | stop | status | env`: a local AWS for development."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from localaws import process
from localaws.environment import ACCOUNT_ID, DEFAULT_REGION, as_shell, variables
from localaws.folders import DEFAULT_STATE_DIR, StateDirectory
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import AwsError, UsageError

app = new_app("A local AWS for development: nothing in it leaves this machine or costs anything.")

DEFAULT_PORT = 5566

StateDirOption = Annotated[
    Path,
    typer.Option(
        "--state-dir",
        help="Folder of this local AWS: its state, file systems and log.",
        show_default=".localaws in the project",
    ),
]


@app.command()
def start(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = DEFAULT_PORT,
    state_dir: StateDirOption = DEFAULT_STATE_DIR,
    discard: Annotated[
        bool, typer.Option("--discard/--keep", help="Throw away, or bring back, what was kept.")
    ] = False,
    hosts: Annotated[
        bool,
        typer.Option(
            "--hosts/--no-hosts",
            help="EC2 instances are hosts that run, in namespaces of this machine (needs root).",
        ),
    ] = False,
    output: FormatOption = Format.TEXT,
) -> None:
    """Start a local AWS in the background."""
    directory = _directory(state_dir)
    server = process.find(directory)
    if server is None:
        if discard:
            process.discard(directory)
        server = process.start(directory, port, hosts=hosts)
        log.print(f'Local AWS is ready. Use it: eval "$({directory.command("env")})"')
    elif discard:
        raise UsageError(
            f"--discard: a local AWS runs in {directory.root}. Stop it first: "
            + directory.command("stop --discard")
        )
    else:
        log.print("Local AWS is already running.")
    if output is Format.JSON:
        print_json(_status(directory, server))
    else:
        result.print(server.endpoint)


@app.command()
def stop(
    state_dir: StateDirOption = DEFAULT_STATE_DIR,
    discard: Annotated[
        bool,
        typer.Option("--discard/--keep", help="Throw away, or keep, stacks, objects and files."),
    ] = False,
) -> None:
    """Stop the local AWS of a state directory."""
    directory = _directory(state_dir)
    if discard:
        stopped = process.end(directory)
        process.discard(directory)
    else:
        stopped = process.stop(directory)
    what = "stopped" if stopped else "was not running"
    log.print(f"Local AWS {what}; its state is {'thrown away' if discard else 'kept'}.")


@app.command()
def status(
    state_dir: StateDirOption = DEFAULT_STATE_DIR, output: FormatOption = Format.TEXT
) -> None:
    """Show whether it runs, and its file systems and stacks."""
    directory = _directory(state_dir)
    state = _status(directory, process.find(directory))
    if output is Format.JSON:
        print_json(state)
        return
    if not state["running"]:
        result.print(f"not running ({directory.root})")
        return
    result.print(f"running at {state['endpoint']} (process {state['pid']}, {directory.root})")
    for file_system in state["file_systems"]:
        result.print(f"{file_system['type']} {file_system['id']} {file_system['folder']}")
    for stack in state["stacks"]:
        result.print(f"stack {stack['name']} {stack['status']} {stack['region']}")


@app.command()
def env(
    state_dir: StateDirOption = DEFAULT_STATE_DIR,
    region: Annotated[str, typer.Option(help="Region of the stacks.")] = DEFAULT_REGION,
    output: FormatOption = Format.TEXT,
) -> None:
    """Print the variables that point other programs at it."""
    directory = _directory(state_dir)
    server = process.find(directory)
    if server is None:
        raise AwsError(
            f"no local AWS runs in {directory.root}. Start it: {directory.command('start')}"
        )
    values = variables(server.endpoint, directory.file_systems, region)
    if output is Format.JSON:
        print_json(values)
    else:
        # Written as it is: a shell evaluates it.
        typer.echo(as_shell(values))


def _directory(path: Path) -> StateDirectory:
    if path == Path():
        # An empty variable in a script; what is stopped with --discard is removed.
        raise UsageError('--state-dir "": name a folder of its own, for example .localaws')
    return StateDirectory(path.absolute())


def _status(directory: StateDirectory, server: process.Server | None) -> dict[str, Any]:
    state: dict[str, Any] = {"running": server is not None, "state_dir": str(directory.root)}
    if server is not None:
        state |= {
            "endpoint": server.endpoint,
            "pid": server.pid,
            "account": ACCOUNT_ID,
            "log": str(directory.log),
            **server.inventory(),
        }
    return state


if __name__ == "__main__":
    run(app)
