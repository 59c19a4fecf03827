"""Elastic Fabric Adapters, as the kernel shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from node.health import fabric
from node.health.check import ok
from node.health.fabric import check_fabric


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fabric, "FI_INFO", str(tmp_path / "fi_info"))
    (tmp_path / "drivers" / "efa").mkdir(parents=True)
    (tmp_path / "drivers" / "mlx5_core").mkdir()
    return tmp_path


def plug(devices: Path, name: str, *, state: str = "4: ACTIVE", driver: str = "efa") -> None:
    device = devices / "class" / name
    (device / "device").mkdir(parents=True)
    (device / "device" / "driver").symlink_to(devices / "drivers" / driver)
    (device / "ports" / "1").mkdir(parents=True)
    (device / "ports" / "1" / "state").write_text(f"{state}\n")


def test_adapters_that_are_up_are_counted(devices: Path) -> None:
    for number in range(4):
        plug(devices, f"rdmap{number}s27")
    plug(devices, "mlx5_0", driver="mlx5_core")
    assert check_fabric(4, timeout_s=5, devices=devices / "class") == ok("efa", 4)


def test_one_that_is_down_is_named(devices: Path) -> None:
    plug(devices, "rdmap0s27")
    plug(devices, "rdmap1s27", state="1: DOWN")
    check = check_fabric(2, timeout_s=5, devices=devices / "class")
    assert check is not None
    assert check.message.startswith("1 of 2 adapters are up (down: rdmap1s27). ")
    assert (check.status, check.value) == ("failed", 1)


def test_libfabric_has_the_last_word(devices: Path) -> None:
    plug(devices, "rdmap0s27")
    fi_info = devices / "fi_info"
    fi_info.write_text("#!/bin/sh\necho 'fi_getinfo: -61 (No data available)' >&2\nexit 61\n")
    fi_info.chmod(0o755)
    check = check_fabric(1, timeout_s=5, devices=devices / "class")
    assert check is not None
    assert "libfabric finds none: fi_getinfo: -61 (No data available)" in check.message


def test_none_are_wanted_of_a_type_that_has_none(devices: Path) -> None:
    assert check_fabric(0, timeout_s=5, devices=devices / "class") is None
