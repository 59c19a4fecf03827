"""Commands that cells run."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from training.notebook.command import run
from training.notebook.told import Told

ECHO = "import json, sys; print(json.dumps(sys.argv[1:])); print('note', file=sys.stderr)"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module `its_command` that commands can run."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "its_command.py"


def test_arguments_arrive_as_they_are_and_run_nothing(
    module: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    module.write_text(ECHO)
    words = ["a b", "$(touch x)", "`touch x`", "'", '"', ";touch x", "*", "é\n-"]
    run("its_command", *words, tmp_path)
    shown = capsys.readouterr().out.splitlines()
    expected = ["a b", "$(touch x)", "`touch x`", "'", '\\"', ";touch x", "*", "\\u00e9\\n-"]
    assert "[" + ", ".join(f'"{word}"' for word in [*expected, str(tmp_path)]) + "]" in shown
    assert shown[-1] == "note"
    assert not Path("x").exists()


def test_the_cell_shows_what_could_be_typed_in_a_terminal(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module.write_text("")
    run("its_command", "--set", "a=[1, 2]")
    assert capsys.readouterr().out == "$ python -m its_command --set 'a=[1, 2]'\n"


def test_a_command_draws_no_progress_bar_into_the_cell(
    module: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # As Jupyter's kernel does.
    module.write_text("from rich.console import Console\nprint(Console().is_terminal)\n")
    run("its_command")
    assert capsys.readouterr().out.splitlines()[-1] == "False"


def test_lines_are_shown_when_they_are_printed(
    module: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The command ends only after its first line was seen.
    seen = tmp_path / "seen"
    module.write_text(
        "import pathlib, time\n"
        "print('first')\n"
        f"while not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.01)\n"
    )

    class Output:
        def write(self, text: str) -> None:
            if text == "first\n":
                seen.touch()

        def flush(self) -> None:
            pass

    monkeypatch.setattr("sys.stdout", Output())
    run("its_command")
    assert seen.exists()


def test_a_failure_stops_the_notebook_with_one_line(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module.write_text("raise SystemExit(3)")
    with pytest.raises(Told) as failure:
        run("its_command")
    assert failure.value._render_traceback_() == [
        "error: python -m its_command ended with exit code 3; what it said is above"
    ]


def interrupt_when(file: Path, times: int) -> threading.Thread:
    """Interrupt this process, as Jupyter does it, once a file is there, and once more a time."""

    def work() -> None:
        for _ in range(times):
            while not file.exists():
                time.sleep(0.01)
            file.unlink()
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_after_an_interrupt_the_command_may_still_say_how_to_go_on(
    module: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    started = tmp_path / "started"
    # Jupyter's signal goes to the whole group of processes; here the command sends it to itself.
    module.write_text(
        "import os, pathlib, signal, sys\n"
        "try:\n"
        f"    pathlib.Path({str(started)!r}).touch()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    signal.pause()\n"
        "except KeyboardInterrupt:\n"
        f"    while pathlib.Path({str(started)!r}).exists(): pass\n"
        "    print('the job goes on')\n"
        "    sys.exit(130)\n"
    )
    thread = interrupt_when(started, 1)
    with pytest.raises(Told, match="exit code 130"):
        run("its_command")
    thread.join()
    assert "the job goes on\n" in capsys.readouterr().out


def test_a_second_interrupt_ends_a_command_that_goes_on(module: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    module.write_text(
        "import pathlib, time\n"
        f"file = pathlib.Path({str(started)!r})\n"
        "while True:\n"
        "    file.touch()\n"
        "    time.sleep(0.05)\n"
    )
    thread = interrupt_when(started, 2)
    with pytest.raises(Told, match=f"exit code -{signal.SIGTERM.value}"):
        run("its_command")
    thread.join()
