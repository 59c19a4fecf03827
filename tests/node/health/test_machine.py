"""Disk, memory and what runs jobs."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from node.health import machine
from node.health.machine import (
    GIB,
    check_clock_service,
    check_disks,
    check_memory,
    check_runtime,
)

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("free_gib", "status", "said"),
    [
        (50, "ok", ""),
        (9, "warning", "/ fills up: 9.0 of 100.0 GiB free"),
        (1.5, "failed", "/ is full: 1.5 of 100.0 GiB free. Delete what is not needed"),
    ],
)
def test_a_full_disk_is_told(
    monkeypatch: pytest.MonkeyPatch, free_gib: float, status: str, said: str
) -> None:
    usage = Usage(100 * GIB, 0, free_gib * GIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    [check] = check_disks({"disk": "/", "scratch": "/no/such/folder"})
    assert (check.name, check.status, said in check.message) == ("disk", status, True)


def test_memory_that_is_used_up_is_told(tmp_path: Path) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal:  8388608 kB\nMemFree: 1 kB\nMemAvailable:  419430 kB\n")
    check = check_memory(info)
    assert (check.status, check.value) == ("warning", "0.4 of 8.0 GiB free")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def write(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_an_engine_must_answer(programs: Path) -> None:
    missing = check_runtime("image", timeout_s=5).message
    assert missing == "neither docker nor podman is on this node: its set-up did not end well"
    write(programs / "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    check = check_runtime("image", timeout_s=5)
    assert check.message == "docker does not answer: Cannot connect to the Docker daemon"
    write(programs / "docker", "true")
    assert check_runtime("image", timeout_s=5).value == "docker"


def test_an_environment_must_have_torch(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ENVIRONMENT", str(programs / "python"))
    assert "No such file" in check_runtime("environment", timeout_s=5).message
    write(programs / "python", "echo 2.14.1")
    assert check_runtime("environment", timeout_s=5).value == "torch 2.14.1"


CHRONY = "A9FEA97B,169.254.169.123,4,1764366000.1,{},0.1,0.2,-17.8,0.0,0.01,0.0004,0.0005,64.5,{}"


def test_chrony_says_whether_it_is_synchronised(programs: Path) -> None:
    assert check_clock_service(timeout_s=5) is None
    write(programs / "chronyc", f"echo '{CHRONY.format('0.000012', 'Normal')}'")
    check = check_clock_service(timeout_s=5)
    assert check is not None and check.value == "0.012 ms"
    write(programs / "chronyc", f"echo '{CHRONY.format('0.0', 'Not synchronised')}'")
    check = check_clock_service(timeout_s=5)
    assert check is not None and check.status == "warning"
    write(programs / "chronyc", "echo '506 Cannot talk to daemon'; exit 1")
    check = check_clock_service(timeout_s=5)
    assert check is not None and check.message == "chronyc: 506 Cannot talk to daemon"
