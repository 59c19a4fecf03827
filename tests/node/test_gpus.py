"""GPUs on the bus and in the driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from node import gpus
from node.errors import NodeError

A100 = ("0x10de", "0x030200")
NVSWITCH = ("0x10de", "0x068000")
NETWORK = ("0x1d0f", "0x020000")
VGA_OF_ANOTHER = ("0x1d0f", "0x030000")


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    devices = tmp_path / "devices"
    devices.mkdir()
    monkeypatch.setattr(gpus.on_bus, "__defaults__", (devices,))
    return devices


def plug(bus: Path, *devices: tuple[str, str]) -> None:
    for number, (vendor, kind) in enumerate(devices):
        (bus / str(number)).mkdir()
        (bus / str(number) / "vendor").write_text(f"{vendor}\n")
        (bus / str(number) / "class").write_text(f"{kind}\n")


def driver(bus: Path, script: str) -> None:
    program = bus.parent / "bin" / "nvidia-smi"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)


def test_switches_and_other_vendors_are_no_gpus(bus: Path) -> None:
    plug(bus, A100, A100, NVSWITCH, NETWORK, VGA_OF_ANOTHER)
    (bus / "broken").mkdir()
    assert gpus.on_bus() == 2


@pytest.mark.parametrize(("role", "slots"), [("worker", 1), ("head", 0)])
def test_a_machine_without_gpus_needs_no_driver(role: str, slots: int, bus: Path) -> None:
    plug(bus, NETWORK)
    gpus.check()
    assert gpus.slots(role) == slots


def test_slots_are_what_the_driver_has(bus: Path) -> None:
    plug(bus, A100, A100)
    driver(bus, r"printf 'GPU 0: A100 (UUID: GPU-1)\n  MIG 1g.5gb\nGPU 1: A100\n'")
    gpus.check()
    assert gpus.slots("head") == 2


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "there is no nvidia-smi"),
        ("echo no driver; exit 9", "nvidia-smi ended with 9: no driver"),
    ],
)
def test_an_ami_without_driver_is_said(script: str | None, said: str, bus: Path) -> None:
    plug(bus, A100, A100)
    if script:
        driver(bus, script)
    with pytest.raises(NodeError) as error:
        gpus.check()
    assert str(error.value).startswith(
        f"AMI without driver: this machine has 2 NVIDIA GPUs, and {said}. Take an AMI"
    )


def test_a_gpu_that_the_driver_has_lost_is_said(bus: Path) -> None:
    plug(bus, A100, A100)
    driver(bus, "echo 'GPU 0: A100'")
    with pytest.raises(NodeError, match="2 NVIDIA GPUs, but the driver has 1 ready: replace it"):
        gpus.check()
