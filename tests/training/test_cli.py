"""What every command line does with errors and with the streams that it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

PROJECT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
from training.cli import *
from training.errors import *

app = new_app("Try.")

@app.command()
def go(what: str) -> None:
    if what == "usage":
        raise UsageError("a [red]markup[/] line of arn:aws:secretsmanager:r:1:secret:git")
    if what == "arn":
        result.print("arn:aws:secretsmanager:r:1:secret:git[a]")
        log.print("arn:aws:secretsmanager:r:1:secret:git[a]")
    if what == "checkpointed":
        raise JobCheckpointed("saved")
    if what == "interrupt":
        raise KeyboardInterrupt
    if what == "interrupt in a lock":
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")
    if what == "escapes":
        result.print("a\\x1b[2Jb")
        log.print("a\\u202eb")
        raise UsageError("a\\x1b[2Jb")
    if what == "file":
        open("/nowhere/at/all")
    if what == "gone":
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)
        os.getcwd()
    if what == "bug":
        1 / 0
    if what == "json":
        print_json({"name": "é"})
    if what == "text":
        for number in range(20000):
            result.print(f"line {number} é")

run(app)
"""


def call(what: str, **options: object) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT), **options.pop("env", {})}  # type: ignore[dict-item]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", PROGRAM, what], env=environ, text=True, check=False, **streams
    )


@pytest.mark.parametrize(
    ("what", "code", "message"),
    [
        ("usage", 2, "error: a [red]markup[/] line of arn:aws:secretsmanager:r:1:secret:git\n"),
        ("checkpointed", 75, "stopped: saved\n"),
        ("interrupt", 130, ""),
        ("interrupt in a lock", 130, ""),
        ("file", 2, "error: /nowhere/at/all: No such file or directory\n"),
        ("gone", 2, "error: the folder that this was started in is gone; change to another\n"),
    ],
)
def test_an_error_is_its_message_and_the_exit_code_of_its_kind(
    what: str, code: int, message: str
) -> None:
    done = call(what)
    assert (done.returncode, done.stderr, done.stdout) == (code, message, "")


def test_text_is_shown_as_it_is() -> None:
    done = call("arn")
    assert done.stdout == done.stderr == "arn:aws:secretsmanager:r:1:secret:git[a]\n"


def test_a_text_commands_no_terminal() -> None:
    done = call("escapes", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert done.stdout == "a\\x1b[2Jb\n"
    assert done.stderr == "a\\u202eb\nerror: a\\x1b[2Jb\n"


def test_a_bug_is_shown_as_what_it_is() -> None:
    done = call("bug")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("what", ["json", "text"])
def test_a_full_disk_under_the_result_is_an_error(what: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = call(what, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "error: the result cannot be written: No space left on device\n"


@pytest.mark.parametrize("what", ["json", "text"])
def test_a_reader_that_leaves_is_no_error(what: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = call(what, stdout=pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_json_is_json_whatever_the_terminal_writes(encoding: str) -> None:
    done = call("json", env={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stdout) == (0, '{\n  "name": "\\u00e9"\n}\n')
    assert call("json", env={"PYTHONIOENCODING": "utf-8"}).stdout == '{\n  "name": "é"\n}\n'


def test_a_terminal_that_lacks_a_letter_gets_its_number() -> None:
    done = call("text", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "line 0 \\xe9")


def test_closed_streams_and_a_width_of_nothing_are_borne() -> None:
    closed = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" text >&- 2>&- <&-', sys.executable, PROGRAM],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        check=False,
    )
    assert closed.returncode == 0
    assert len(call("text", env={"COLUMNS": "0"}).stdout.splitlines()) == 20000


@pytest.mark.parametrize("package", ["data", "images", "jobs", "prices"])
def test_a_list_of_commands_cuts_no_sentence_off(package: str) -> None:
    app = import_module(f"training.{package}.__main__").app
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}, terminal_width=80)
    commands = shown.stdout.partition("Commands:")[2].splitlines()[1:]
    assert commands
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize(("environ", "escapes"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_leaves_out_bold_and_dim_too(environ: dict[str, str], escapes: bool) -> None:
    # FORCE_COLOR makes a terminal of the pipe.
    code = "from training.cli import result; result.print('[dim]a[/] [bold red]b[/]', markup=True)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "TERM": "xterm", "FORCE_COLOR": "1", **environ},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ("\x1b" in shown) is escapes
    assert escapes or shown == "a b\n"


def test_no_installed_package_is_asked_for_plugins_of_pydantic(tmp_path: Path) -> None:
    package = tmp_path / "plug-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[pydantic]\nplug = plug:plugin\n")
    (tmp_path / "plug.py").write_text("print('the plugin was loaded')\nplugin = None\n")
    ended = subprocess.run(
        [sys.executable, "-m", "training.launch", "--explain"],
        capture_output=True, text=True, check=True, cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"},
    )  # fmt: skip
    assert "the plugin was loaded" not in ended.stdout
    assert ended.stdout.startswith("name:")
