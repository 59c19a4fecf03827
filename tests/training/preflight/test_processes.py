"""What local processes need."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from training.preflight.processes import find

HERE = Path(sys.executable)


def codes(
    horovodrun: Path = HERE, controller: str = "gloo", network_interface: str = "lo"
) -> list[str]:
    found = find(horovodrun=horovodrun, controller=controller, network_interface=network_interface)
    return [finding.code for finding in found]


def test_a_machine_that_has_all_is_fine() -> None:
    assert codes() == []


def test_an_interface_that_is_not_there_is_named_with_those_that_are() -> None:
    (finding,) = find(horovodrun=HERE, controller="gloo", network_interface="nope0")
    assert finding.code == "interface-missing"
    assert "'nope0': this machine has" in finding.message
    assert "lo" in finding.message


def test_mpi_without_mpirun_is_found_and_gloo_does_not_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert codes(controller="mpi") == ["mpi-missing"]
    assert codes(controller="gloo") == []


def test_a_host_discovery_that_cannot_be_executed_is_found(tmp_path: Path) -> None:
    script = tmp_path / "hosts"
    for present in (False, True):
        if present:
            script.write_text("#!/bin/sh\necho localhost:1\n")
        (finding,) = find(
            horovodrun=HERE, controller="gloo", network_interface="lo", host_discovery=script
        )
        assert finding.code == "host-discovery-missing"
        assert f"local.elastic.host_discovery: '{script}'" in finding.message
    script.chmod(0o755)
    assert not list(
        find(horovodrun=HERE, controller="gloo", network_interface="lo", host_discovery=script)
    )


def test_a_missing_horovodrun_is_found() -> None:
    assert codes(horovodrun=Path("/nowhere/horovodrun")) == ["horovod-missing"]
