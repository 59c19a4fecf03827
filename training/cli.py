"""What every command line shares: output formats, and errors turned into exit codes.

Results go to stdout, progress and log to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from training.errors import ExitCode, TrainingError

log = Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and messages."""

result = Console(highlight=False, soft_wrap=True)
"""What was asked for, as text."""


class Format(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="text for people, json for scripts.")
]


def new_app(help_text: str) -> typer.Typer:
    """Return a Typer app with the settings that all our commands have."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=False,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def print_json(value: Any) -> None:
    """Print one JSON document to stdout, the same bytes whether a terminal or a pipe reads it."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show_error(error: TrainingError) -> None:
    """Print an error as its message alone, to stderr."""
    log.print(f"[bold red]error:[/] {escape(str(error))}")


def run(app: typer.Typer) -> NoReturn:
    """Run a command line and leave with the exit code of what happened.

    A bug is still shown as a traceback: only errors meant for the user are shortened.
    """
    try:
        code = app(standalone_mode=True)
    except TrainingError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        log.print("interrupted")
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe left (`| head`); Python would print a traceback while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.DONE)
    sys.exit(code or ExitCode.DONE)
