"""What every command line shares: output formats, and errors turned into exit codes.

Results go to stdout, progress and log to stderr.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from rich.console import Console
from rich.text import Text

from training.errors import FOLDER_GONE, ExitCode, JobFailed, TrainingError, UsageError
from training.shared_options import command_line
from training.visible import visible


class _PlainConsole(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """Show no text from elsewhere in a way that the terminal would obey."""
        return super().render_str(visible(text), **options)


class _ResultConsole(_PlainConsole):
    def on_broken_pipe(self) -> None:
        _reader_left()


class _LogConsole(_PlainConsole):
    def on_broken_pipe(self) -> None:
        """Go on in silence: nobody reads what is done, and it is to be done all the same."""
        self.quiet = True
        _drop(sys.stderr)


# Some callers set it to 0, for which rich would print nothing at all.
_WIDTH = None if os.environ.get("COLUMNS", "").strip() != "0" else 80

# Texts are shown as they are: in an ARN, `:secret:` would become a picture, and `[a]` would vanish.
_PLAIN: dict[str, Any] = {
    "highlight": False,
    "emoji": False,
    "markup": False,
    "soft_wrap": True,
    "width": _WIDTH,
    # With NO_COLOR, rich leaves out the colours, and still sends bold and dim: https://no-color.org
    "color_system": None if os.environ.get("NO_COLOR") else "auto",
}

log = _LogConsole(stderr=True, **_PLAIN)
"""Progress and messages."""

result = _ResultConsole(**_PLAIN)
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
    # In any other encoding, letters would come out as something that no reader of JSON takes.
    is_utf_8 = (sys.stdout.encoding or "").lower() in {"utf-8", "utf8"}
    try:
        sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=not is_utf_8) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_left()


def show_error(error: TrainingError) -> None:
    """Print an error as its message alone, to stderr."""
    colour = "red" if error.label == "error" else "yellow"
    log.print(Text.assemble((f"{error.label}:", f"bold {colour}"), f" {visible(str(error))}"))


def run(app: typer.Typer) -> NoReturn:
    """Run a command line and leave with the exit code of what happened.

    A bug is still shown as a traceback: only errors meant for the user are shortened.
    """
    _prepare_streams()
    _leave_out_plugins()
    try:
        code = _call(app)
        sys.stdout.flush()
    except OSError as error:
        code = _show_os_error(error)
    sys.exit(code)


def _call(app: typer.Typer) -> int:
    try:
        command_line(app)(standalone_mode=True)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else ExitCode.DONE
    except TrainingError as error:
        show_error(error)
        return error.exit_code
    except RuntimeError as error:
        if not _is_of_ctrl_c(error):
            raise
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _is_of_ctrl_c(error: BaseException | None) -> bool:
    """Return whether an error came up while Ctrl-C ended what ran.

    Where it strikes inside a lock of `threading`, "release unlocked lock" takes its place:
    https://github.com/python/cpython/issues/78667
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _show_os_error(error: OSError) -> ExitCode:
    """Show what the operating system refused, where it says of which file."""
    if error.filename is not None:
        show_error(UsageError(f"{error.filename}: {error.strerror}"))
        return ExitCode.USAGE
    if error.errno == errno.ENOENT:
        # Only of the working directory is it not told what is not there.
        show_error(UsageError(FOLDER_GONE))
        return ExitCode.USAGE
    if error.errno in {errno.ENOSPC, errno.EIO, errno.EDQUOT}:
        _drop(sys.stdout)
        show_error(JobFailed(f"the result cannot be written: {error.strerror}"))
        return ExitCode.JOB_FAILED
    raise error


def _prepare_streams() -> None:
    """Let a command run whatever its caller made of the standard streams."""
    # Closed by the caller (`>&-`), they are None.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")


def _leave_out_plugins() -> None:
    """Keep pydantic from asking each package that is installed for plugins, at each start."""
    # https://docs.pydantic.dev/latest/concepts/plugins/
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _reader_left() -> NoReturn:
    """Leave quietly: the reader of a pipe has what it wanted (`| head`)."""
    _drop(sys.stdout)
    sys.exit(ExitCode.DONE)


def _drop(stream: TextIO) -> None:
    """Throw away what is still to be written, which Python would try again while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
