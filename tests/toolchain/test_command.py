"""`python3 -m toolchain setup` on machines that lack something: one clear error, exit code 2."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project as far as the set-up goes, without what it installs."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT / "toolchain", project / "toolchain")
    for pattern in ("requirements*.txt", "constraints.txt", "package*.json"):
        for file in PROJECT.glob(pattern):
            shutil.copy(file, project)
    return project


def put_command(folder: Path, name: str, script: str = "exit 0") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def setup(
    project: Path, commands: dict[str, str], *arguments: str, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run the set-up with a PATH of these commands alone."""
    folder = project.parent / "bin"
    folder.mkdir(exist_ok=True)
    for name, script in commands.items():
        put_command(folder, name, script)
    return subprocess.run(
        [python, "-m", "toolchain", "setup", *arguments],
        cwd=project,
        env={"PATH": str(folder), "HOME": str(project.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_all_that_is_missing_is_named_at_once(copy: Path) -> None:
    done = setup(copy, {})
    assert done.returncode == 2
    errors = done.stderr.splitlines()
    assert [line.split(":")[:2] for line in errors] == [
        ["error", " node"],
        ["error", " missing"],
    ]
    assert "g++ (compiles Horovod)" in errors[1]
    assert "There is no apt-get here" in errors[1]
    assert not (copy / ".venv").exists()


def test_old_node_is_refused_before_anything_is_installed(copy: Path) -> None:
    node = {"node": "echo v18.19.0", "npm": "exit 0"}
    done = setup(copy, node, "--for", "cdk")
    assert done.returncode == 2
    assert done.stderr.startswith("error: node is version v18.19.0. The CDK CLI needs Node.js 20")
    assert "Traceback" not in done.stderr
    assert not (copy / ".venv").exists()


def test_cache_that_cannot_be_made_is_one_clear_error(copy: Path) -> None:
    (copy.parent / ".cache").touch()
    done = setup(copy, {"node": "echo v22.0.0", "npm": "exit 0"}, "--for", "cdk")
    assert done.returncode == 2
    assert "/.cache/distributed-mask-rcnn/logs: cannot be made (Not a directory)" in done.stderr
    assert "Set XDG_CACHE_HOME" in done.stderr


def test_pip_without_network_shows_what_failed(copy: Path) -> None:
    (copy.parent / ".config" / "pip").mkdir(parents=True)
    (copy.parent / ".config" / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = http://127.0.0.1:1/simple\nretries = 1\n"
    )
    done = setup(copy, {"node": "echo v22.0.0", "npm": "exit 0"}, "--for", "cdk")
    assert done.returncode == 2
    assert re.search(r"\[3/4\] Python packages +failed", done.stderr)
    assert "Failed to establish a new connection" in done.stderr
    assert "This needs the network" in done.stderr
    assert "Traceback" not in done.stderr
    log = done.stderr.rpartition("All of its output: ")[2].strip()
    assert "-m pip install" in Path(log).read_text()


def test_unknown_purpose_is_refused_with_the_choices(copy: Path) -> None:
    done = setup(copy, {}, "--for", "fun")
    assert done.returncode == 2
    assert "choose from 'cdk', 'demo', 'test'" in done.stderr


def test_disk_without_room_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import sys, shutil, runpy; usage = shutil.disk_usage\n"
        "class Full: free = 2 * 1024**3\n"
        "shutil.disk_usage = lambda path: Full\n"
        "sys.argv = ['toolchain', 'setup', '--for', 'cdk']\n"
        "runpy.run_module('toolchain', run_name='__main__')"
    )
    folder = copy.parent / "bin"
    put_command(folder, "node", "echo v22.0.0")
    put_command(folder, "npm")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env={**os.environ, "PATH": str(folder), "HOME": str(copy.parent), "XDG_CACHE_HOME": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"error: {copy}/.venv: 2.0 GiB free, 15.0 GiB needed. Make room" in done.stderr
