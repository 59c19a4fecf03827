"""Options that every command line has: `--version` and `--verbose`."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from training.trace import VARIABLE

VERSION = "0.1.0"
"""pyproject.toml has the same; the images and a CDK app's machine have no installed package."""


def command_line(app: typer.Typer) -> Any:
    """Return an app's command, and all commands below it, with these options too."""
    command = typer.main.get_command(app)
    _add(command)
    return command


def _add(command: Any) -> None:
    shared = typer.main.get_command(_SHARED).params
    command.params = [*command.params, *shared]
    for below in getattr(command, "commands", {}).values():
        _add(below)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"distributed-mask-rcnn {VERSION}")
        raise typer.Exit


def _be_verbose(wanted: bool) -> None:
    if wanted:
        os.environ[VARIABLE] = "1"


_SHARED = typer.Typer(add_completion=False)


@_SHARED.command()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            expose_value=False,
            help="Print the version and leave.",
        ),
    ] = False,
    _verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            callback=_be_verbose,
            is_eager=True,
            expose_value=False,
            help="Tell each request to AWS on stderr, with its request id.",
        ),
    ] = False,
) -> None:
    """Hold the options; it is never run."""
