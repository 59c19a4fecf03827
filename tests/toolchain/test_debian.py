"""Debian packages: what is missing, whether it can be installed, and how it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from toolchain import debian
from toolchain.debian import HOROVOD, Package
from toolchain.errors import SetupError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, with programs that record their calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(debian.os, "geteuid", lambda: 0)
    return folder


def put_recorder(path: Path, name: str, script: str = "exit 0") -> None:
    file = path / name
    file.write_text(f'#!/bin/sh\necho "{name} $@" >> {path}/calls\n{script}\n')
    file.chmod(0o755)


def put_env(path: Path) -> None:
    (path / "env").symlink_to("/usr/bin/env")


def test_missing_are_those_whose_content_is_not_there(path: Path) -> None:
    put_recorder(path, "g++")
    put_recorder(path, "mpirun")
    names = [package.name for package in debian.missing(HOROVOD)]
    assert "g++" not in names
    assert "openmpi-bin" not in names
    assert {"make", "libopenmpi-dev"} <= set(names)


def test_nothing_missing_needs_neither_apt_nor_root(path: Path) -> None:
    assert debian.check_installable([]) is None


def test_missing_compiler_without_apt_is_named_with_what_it_is_for(path: Path) -> None:
    message = debian.check_installable(HOROVOD[:1])
    assert message is not None
    assert message.startswith("missing: g++ (compiles Horovod). There is no apt-get here")


def test_apt_without_root_or_sudo_gives_the_command_to_run(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_recorder(path, "apt-get")
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000)
    message = debian.check_installable(HOROVOD[:2])
    assert message is not None
    assert message.endswith("there is no sudo. As root, run: apt-get install g++ make")
    put_recorder(path, "sudo")
    assert debian.check_installable(HOROVOD[:2]) is None


def test_install_repairs_updates_and_installs(path: Path, tmp_path: Path) -> None:
    put_env(path)
    put_recorder(path, "dpkg")
    put_recorder(path, "apt-get", f"case $* in *install*) echo > {path}/thing; esac")
    package = Package("thing-dev", "makes things", (path / "thing").exists)
    debian.install([package], log=tmp_path / "log", progress=lambda text: None)
    assert (path / "calls").read_text().splitlines() == [
        "dpkg --configure -a",
        "apt-get update",
        "apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 thing-dev",
    ]


def test_install_goes_through_sudo_after_it_asked_once(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000)
    put_recorder(path, "sudo")
    there = iter([True])
    package = Package("thing-dev", "makes things", lambda: next(there))
    debian.install([package], log=tmp_path / "log", progress=lambda text: None)
    calls = (path / "calls").read_text().splitlines()
    assert calls[0] == "sudo --validate"
    assert calls[1] == "sudo --non-interactive dpkg --configure -a"
    assert calls[3].startswith("sudo --non-interactive env DEBIAN_FRONTEND=noninteractive apt-get")


def test_sudo_that_refuses_is_one_clear_error(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000)
    put_recorder(path, "sudo", "exit 1")
    with pytest.raises(SetupError, match=r"sudo refused\. As root, run: apt-get install g\+\+"):
        debian.install(HOROVOD[:1], log=tmp_path / "log", progress=lambda text: None)


def test_apt_without_network_shows_its_last_lines(path: Path, tmp_path: Path) -> None:
    put_env(path)
    put_recorder(path, "dpkg")
    put_recorder(path, "apt-get", "echo 'E: Unable to fetch some archives'; exit 100")
    with pytest.raises(SetupError) as caught:
        debian.install(HOROVOD[:1], log=tmp_path / "log", progress=lambda text: None)
    message = str(caught.value)
    assert "(exit code 100):\n  | E: Unable to fetch some archives\n" in message
    assert "Debian packages could not be installed: g++." in message


def test_package_that_brings_nothing_for_this_python_is_an_error(
    path: Path, tmp_path: Path
) -> None:
    put_env(path)
    put_recorder(path, "dpkg")
    put_recorder(path, "apt-get")
    package = Package("python3-dev", "Python's headers", lambda: False)
    with pytest.raises(SetupError, match="python3-dev brings is still not there") as caught:
        debian.install([package], log=tmp_path / "log", progress=lambda text: None)
    assert sys.executable in str(caught.value)


def test_tools_of_dpkg_are_found_after_a_plain_su(path: Path, tmp_path: Path) -> None:
    put_env(path)
    put_recorder(path, "dpkg", f"echo $PATH > {path}/seen")
    put_recorder(path, "apt-get", f"echo > {path}/thing")
    package = Package("thing", "", (path / "thing").exists)
    debian.install([package], log=tmp_path / "log", progress=lambda text: None)
    assert (path / "seen").read_text().strip().split(":") == [
        os.environ["PATH"],
        "/usr/sbin",
        "/sbin",
    ]


def test_programs_of_root_are_found_without_its_path(path: Path) -> None:
    assert not debian.has_command("ldconfig")()
    assert debian.has_system_command("ldconfig")()
    assert not debian.has_system_command("no-such-program")()
    assert not debian.has_helper("no-such-helper")()
