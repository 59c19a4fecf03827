"""The node's programs as texts: their form, and the Python that they need."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.node.setup.host import PROJECT

NODE = PROJECT / "node"
SCRIPTS = sorted([*NODE.glob("*.sh"), *NODE.glob("setup/*.sh"), NODE / "hosts"])
PYTHON = sorted([*NODE.rglob("*.py"), NODE / "mask-rcnn-node"])
IN_THE_JOBS_ENVIRONMENT = {"health/all_reduce_rank.py"}
"""Runs where the job runs, with its PyTorch."""
TEXTS = sorted([*SCRIPTS, *PYTHON, *NODE.glob("units/*"), NODE / "sshd_config"])


def name(path: Path) -> str:
    return str(path.relative_to(NODE))


def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("shellcheck"), "--shell=bash"),
            *("--external-sources", f"--source-path={NODE}", f"--source-path={NODE / 'setup'}"),
            *SCRIPTS,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_lines_end_as_linux_wants_them(path: Path) -> None:
    content = path.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_python_3_9_reads_it_and_it_needs_nothing_but_the_standard_library(path: Path) -> None:
    """Amazon Linux 2023 has Python 3.9."""
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    if name(path) in IN_THE_JOBS_ENVIRONMENT:
        return
    for part in ast.walk(tree):
        names = []
        if isinstance(part, ast.Import):
            names = [alias.name for alias in part.names]
        elif isinstance(part, ast.ImportFrom) and not part.level:
            names = [part.module or ""]
        for imported in names:
            top = imported.split(".")[0]
            assert top in {*sys.stdlib_module_names, "node"}, f"{name(path)} imports {imported}"


def test_host_keys_are_always_checked() -> None:
    for path in TEXTS:
        text = path.read_text()
        assert not re.search(r"StrictHostKeyChecking[ =\"',]+(no|off|accept-new)", text), name(path)


def test_each_step_of_the_set_up_is_a_file_and_each_file_a_step() -> None:
    setup = (NODE / "setup.sh").read_text()
    steps = set(re.findall(r"^ +(?:\[\[.*\|\| )?run ([a-z]+) \d+$", setup, re.MULTILINE))
    steps |= {"image", "environment"}  # run "$NODE_RUNS_IN"
    files = {path.stem for path in NODE.glob("setup/*.sh")} - {"common"}
    assert steps == files


def unit(of: str) -> configparser.ConfigParser:
    read = configparser.RawConfigParser()
    read.optionxform = str  # type: ignore[assignment,method-assign]
    assert read.read(NODE / "units" / f"{of}.service")
    return read


@pytest.mark.parametrize("of", ["mask-rcnn-job@", "mask-rcnn-sshd"])
def test_ranks_have_what_they_need_and_take_nothing_with_them(of: str) -> None:
    """Those of the head are the conductor's, those of workers the SSH server's, unless in
    containers."""
    service = unit(of)["Service"]
    assert service["LimitMEMLOCK"] == "infinity"  # EFA registers memory
    assert service["TasksMax"] == "infinity"
    assert service["OOMPolicy"] == "continue"


def test_a_set_up_at_a_later_start_is_tried_again_and_holds_no_boot_up() -> None:
    service = unit("mask-rcnn-setup")["Service"]
    assert (service["Type"], service["Restart"]) == ("simple", "on-failure")
    assert int(service["RestartSec"]) >= 60
    assert unit("mask-rcnn-setup")["Install"]["WantedBy"] == "multi-user.target"
    for other in ("register", "spot", "sshd", "job@"):
        assert "Install" not in unit(f"mask-rcnn-{other}")  # only once EFS is mounted
