"""The interface, and what libraries are told about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.network import check_interface, has_efa, network_environment


def test_a_missing_interface_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    for name in ("lo", "eth0"):
        (tmp_path / "net" / name).mkdir(parents=True)
    check_interface("eth0", str(tmp_path))
    check_interface(None, str(tmp_path))
    with pytest.raises(EntrypointError, match=r"'eth1' is not there; this container has eth0, lo"):
        check_interface("eth1", str(tmp_path))


@pytest.mark.parametrize(("driver", "expected"), [("efa", True), ("mlx5_core", False)])
def test_an_adapter_is_known_by_its_driver(tmp_path: Path, driver: str, expected: bool) -> None:
    (tmp_path / "drivers" / driver).mkdir(parents=True)
    device = tmp_path / "infiniband" / "rdmap0s6" / "device"
    device.mkdir(parents=True)
    (device / "driver").symlink_to(tmp_path / "drivers" / driver)
    assert has_efa(str(tmp_path)) is expected
    assert has_efa(str(tmp_path / "none")) is False


def test_the_interface_and_the_adapter_are_named() -> None:
    named = {"NCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "eth0"}
    efa = {**named, "FI_PROVIDER": "efa"}
    assert network_environment("eth0", "ml.g5.xlarge", efa=False) == named
    assert network_environment("eth0", "ml.g5.48xlarge", efa=True) == efa
    rdma = {**efa, "FI_EFA_USE_DEVICE_RDMA": "1"}
    assert network_environment("eth0", "ml.p4d.24xlarge", efa=True) == rdma
    assert network_environment(None, None, efa=False) == {}
