"""What the machine lacks is said in one sentence each, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain import machine

GIB = 1024**3


def put_command(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the whole PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize("version", [(3, 10), (3, 12), (3, 13)])
def test_other_python_is_refused_and_the_right_one_named(version: tuple[int, int]) -> None:
    message = machine.check_python(version)
    assert message is not None
    assert message.startswith(f"Python {version[0]}.{version[1]} runs this, but Python 3.11")
    assert "make PYTHON=python3.11" in message


def test_python_3_11_passes() -> None:
    assert machine.check_python((3, 11)) is None


def test_missing_node_is_named(path: Path) -> None:
    message = machine.check_node()
    assert message is not None
    assert message.startswith("node: not found on PATH. The CDK CLI needs Node.js 20 or newer")


@pytest.mark.parametrize("version", ["v18.20.4", "v8.0.0", "nonsense", ""])
def test_old_node_is_named_with_its_version(path: Path, version: str) -> None:
    put_command(path, "node", f"echo {version}")
    message = machine.check_node()
    assert message is not None
    assert message.startswith(f"node is version {version or 'unknown'}. The CDK CLI needs")


def test_node_that_fails_is_named(path: Path) -> None:
    put_command(path, "node", "exit 1")
    message = machine.check_node()
    assert message is not None
    assert message.startswith("node --version: failed")


def test_node_without_npm_is_named(path: Path) -> None:
    put_command(path, "node", "echo v22.1.0")
    message = machine.check_node()
    assert message is not None
    assert message.startswith("npm: not found on PATH, though node v22.1.0 is.")


@pytest.mark.parametrize("version", ["v20.0.0", "v22.11.0", "v100.1.1"])
def test_new_node_with_npm_passes(path: Path, version: str) -> None:
    put_command(path, "node", f"echo {version}")
    put_command(path, "npm", "exit 0")
    assert machine.check_node() is None


def test_full_disk_is_said_once_for_each_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 3 * GIB

    monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder: Usage)
    complaints = machine.check_disk([tmp_path / "a/b", tmp_path / "c"], 15 * GIB)
    assert len(complaints) == 1
    assert complaints[0].startswith(f"{tmp_path}/a/b: 3.0 GiB free, 15.0 GiB needed. Make room")


def test_disk_with_room_passes(tmp_path: Path) -> None:
    assert machine.check_disk([tmp_path], 1) == []
