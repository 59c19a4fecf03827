"""Has the programs' own parsers read a command line, as far as they do before they run."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import typer


def parse(module: str, arguments: Sequence[str]) -> None:
    """Read the arguments of `python -m MODULE`: subcommands, options and their choices.

    Raises:
        click.UsageError: The program does not take them.
    """
    is_package = hasattr(import_module(module), "__path__")
    app = import_module(f"{module}.__main__" if is_package else module).app
    parser = typer.main.get_command(app)
    name = module
    if isinstance(parser, typer.core.TyperGroup):
        name, *arguments = arguments
        parser = parser.commands[name]
    parser.make_context(name, list(arguments))
