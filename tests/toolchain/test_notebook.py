"""The packages of the notebook, each at one version and with its hash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from toolchain import notebook

PROJECT = Path(__file__).parents[2]
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>\S+) --hash=sha256:[0-9a-f]{64}")


def locked() -> dict[str, str]:
    lines = notebook.LOCK.read_text().removeprefix(notebook.HEADER).splitlines()
    matches = [LINE.fullmatch(line) for line in lines]
    assert None not in matches
    return {match["name"]: match["version"] for match in matches if match}


def pinned(line: str) -> tuple[str, str]:
    name, _, version = line.partition("==")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def test_the_lock_has_what_the_launcher_needs_in_the_same_versions() -> None:
    """After a change of requirements.txt: python -m toolchain.notebook lock."""
    direct = dict(map(pinned, notebook.direct_requirements()))
    assert {name: locked().get(name) for name in direct} == direct
    assert "ipykernel" in direct
    assert not {"aws-cdk-lib", "constructs", "cdk-nag", "torch"} & set(locked())


def test_the_lock_agrees_with_all_constraints() -> None:
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    constraints = dict(pinned(line) for line in lines if "==" in line)
    both = constraints.keys() & locked().keys()
    assert {name: locked()[name] for name in both} == {name: constraints[name] for name in both}


def test_wheels_are_those_of_the_notebooks_system_on_whatever_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(notebook.subprocess, "run", run)
    assert notebook.main(["wheels", str(tmp_path)]) == 0
    [command] = commands
    assert command[3] == "download"
    assert {
        "--require-hashes",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--platform=manylinux2014_x86_64",
        "--platform=manylinux_2_34_x86_64",
        f"--dest={tmp_path}",
    } <= set(command)
    assert "--platform=manylinux_2_35_x86_64" not in command


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["wheels"], 2),
        (["lock", "more"], 2),
        (["unknown"], 2),
        (["wheels", "--quiet"], 2),
        (["--help"], 0),
        (["lock", "--help"], 0),
        (["wheels", "--help"], 0),
    ],
)
def test_help_and_a_wrong_command_line_show_the_usage_and_run_nothing(
    arguments: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(notebook, "_pip", lambda *_: pytest.fail("pip was run"))
    with pytest.raises(SystemExit) as error:
        notebook.main(arguments)
    assert error.value.code == code
    seen = capsys.readouterr()
    assert "usage: python -m toolchain.notebook" in (seen.err if code else seen.out)


def test_what_pip_could_not_do_ends_1_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(command: list[str], *, check: bool) -> None:
        raise subprocess.CalledProcessError(2, command)

    monkeypatch.setattr(notebook.subprocess, "run", run)
    assert notebook.main(["wheels", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "error: pip ended with 2; what it said is above\n"
