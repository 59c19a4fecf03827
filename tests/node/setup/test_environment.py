"""The virtual environment of jobs without containers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.node.setup.host import READ_CONFIG, Host

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and mounts"),
]


def test_an_environment_is_built_from_what_is_pinned_with_a_wheel_that_all_nodes_share(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path)
    host.config.update(runs_in="environment")
    python = r"""
source /usr/local/bin/record
case "$1 $2" in
"-c import sysconfig"*) echo /usr/include/python3.11 ;;
"-m venv")
    mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"
    for name in python pip; do cp /usr/local/bin/python3.11 "$3/bin/$name"; done ;;
"-m toolchain.horovod_wheel") echo "$4/horovod.whl" ;;
esac
"""
    host.programs |= {"python3.11": python, "mpicxx": "true", "g++": "true", "make": "true"}
    step = "STEP_SECONDS=100 bash /opt/mask-rcnn/node/setup/environment.sh"
    pth = "/opt/mask-rcnn/venv/lib/python3.11/site-packages/mask-rcnn.pth"
    headers = "/usr/include/python3.11"
    left = host.run(
        step,
        before=f"mkdir -p {headers}; touch {headers}/Python.h; {READ_CONFIG}",
        after=f"cat {pth} >/share/pth; {step} >/share/again.log",
    )

    assert left.code == 0, left.printed
    wheels = "/efs/mask-rcnn/clusters/vision/wheels"
    assert [call for call in left.calls if call[0] in ("python3.11", "python", "pip")][2:] == [
        ["python3.11", "-m", "venv", "/opt/mask-rcnn/venv"],
        [
            *("pip", "install", "--quiet"),
            *("--constraint", "/opt/mask-rcnn/docker/horovod/constraints.txt"),
            *("--requirement", "/opt/mask-rcnn/requirements-train.txt"),
        ],
        ["python", "-m", "toolchain.horovod_wheel", "--cache", wheels],
        ["pip", "install", "--quiet", "--no-deps", f"{wheels}/horovod.whl"],
    ]
    assert (left.share / "pth").read_text() == "/opt/mask-rcnn/src\n"
    assert "/opt/mask-rcnn/venv: as it was" in (left.share / "again.log").read_text()


def test_an_environment_without_python_3_11_is_refused_with_the_way_out(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.config["runs_in"] = "environment"
    for name in ("python3.11", "python3.12"):
        host.programs[name] = "exit 1"
    host.programs["dnf"] = "rm -f /usr/local/bin/python3.1[12] /usr/bin/python3.1[12]; exit 1"
    assert host.step("environment").error == (
        "runs_in=environment needs Python 3.11 or 3.12 with its headers, and this AMI has neither, "
        "nor could it be installed: take an AMI with it, or runs_in=image"
    )
