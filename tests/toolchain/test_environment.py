"""A virtual environment counts as usable only where it is whole and lies where it was made."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from toolchain.environment import EVERYTHING, REQUIREMENTS, Environment
from toolchain.errors import SetupError


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A project whose requirements are empty, so that pip has nothing to fetch."""
    project = tmp_path / "project"
    project.mkdir()
    for name in (*REQUIREMENTS, "constraints.txt"):
        (project / name).write_text("")
    return Environment(project, EVERYTHING, tmp_path / "wheels", tmp_path / "log")


def quiet(text: object) -> None:
    pass


FAKE_PYTHON = """#!/bin/sh
case "$*" in
"-m venv "*)
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && touch "$3/bin/pip"
    echo "command = /usr/bin/python3 -m venv $3" > "$3/pyvenv.cfg" ;;
*"-m pip install"*)
    exit ${FAKE_PIP_EXIT:-0} ;;
esac
"""
"""Makes environments with a pip that installs nothing."""


@pytest.fixture
def fake_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "fake-python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


def test_real_environment_is_usable_once_packages_are_in(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not environment.is_usable()
    environment.create(quiet)
    assert not environment.is_usable(), "without its packages it is half-made"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    environment._pip_install("--requirement", EVERYTHING, progress=quiet)
    environment._unfinished.unlink()
    assert environment.is_usable()
    moved = environment.project.with_name("moved")
    shutil.move(environment.project, moved)
    assert not Environment(moved, EVERYTHING, environment.wheels, environment.log).is_usable()


@pytest.mark.usefixtures("fake_python")
def test_changed_requirement_is_installed_into_the_same_environment(
    environment: Environment,
) -> None:
    environment.create(quiet)
    environment.install_packages(quiet)
    assert environment.has_packages()
    (environment.project / "requirements-train.txt").write_text("# changed")
    assert environment.is_usable()
    assert not environment.has_packages()


@pytest.mark.usefixtures("fake_python")
def test_installation_that_was_cut_short_is_made_anew(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.create(quiet)
    environment.install_packages(quiet)
    left_over = environment.folder / "left over"
    left_over.touch()
    monkeypatch.setenv("FAKE_PIP_EXIT", "1")
    with pytest.raises(SetupError, match="This needs the network"):
        environment.install_packages(quiet)
    assert not environment.is_usable()
    monkeypatch.delenv("FAKE_PIP_EXIT")
    environment.create(quiet)
    environment.install_packages(quiet)
    assert environment.is_usable()
    assert environment.has_packages()
    assert not left_over.exists()


@pytest.mark.usefixtures("fake_python")
@pytest.mark.parametrize("lost", ["pyvenv.cfg", "bin/pip", "bin/python"])
def test_environment_that_lost_a_part_is_not_usable(environment: Environment, lost: str) -> None:
    environment.create(quiet)
    environment.install_packages(quiet)
    assert environment.is_usable()
    (environment.folder / lost).unlink()
    assert not environment.is_usable()


def test_all_requirements_cover_those_of_the_cdk_application(environment: Environment) -> None:
    cdk = Environment(environment.project, "requirements.txt", environment.wheels, environment.log)
    assert not cdk.has_packages()
    environment._packages(EVERYTHING).write()
    assert cdk.has_packages()
