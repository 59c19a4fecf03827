"""The files that pin versions agree with each other and name no registry."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from toolchain import horovod_patches
from toolchain.environment import REQUIREMENTS

PROJECT = Path(__file__).parents[2]


def pins(name: str) -> dict[str, str]:
    """Return package, spelled as PyPI normalizes it, to version."""
    found: dict[str, str] = {}
    for line in (PROJECT / name).read_text().splitlines():
        if match := re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[.*\])?==(\S+)", line.strip()):
            found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    return found


@pytest.mark.parametrize("requirements", REQUIREMENTS)
def test_every_requirement_is_exact_and_constraints_agree(requirements: str) -> None:
    lines = [
        line
        for line in (PROJECT / requirements).read_text().splitlines()
        if line and not line.startswith(("#", "-r "))
    ]
    direct = pins(requirements)
    assert len(direct) == len(lines)
    constraints = pins("constraints.txt")
    assert {name: constraints.get(name) for name in direct} == direct


@pytest.mark.parametrize("name", ["constraints.txt", *REQUIREMENTS, "package-lock.json"])
def test_no_registry_address_or_local_path_is_pinned(name: str) -> None:
    text = (PROJECT / name).read_text()
    assert "://" not in text
    assert " @ " not in text
    assert '"resolved"' not in text


def test_horovod_is_no_constraint_since_it_is_built() -> None:
    assert "horovod" not in pins("constraints.txt")
    assert re.fullmatch(r"[0-9a-f]{64}", horovod_patches.SDIST_SHA256)


def test_cdk_cli_is_exact_and_locked_with_its_hash() -> None:
    wanted = json.loads((PROJECT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    locked = json.loads((PROJECT / "package-lock.json").read_text())["packages"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", wanted)
    assert locked["node_modules/aws-cdk"]["version"] == wanted
    assert all(entry["integrity"].startswith("sha512-") for name, entry in locked.items() if name)


def targets() -> set[str]:
    done = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()}


def test_make_targets_are_those_of_the_design() -> None:
    assert {"setup", "demo", "test", "soak", "bench", "lint", "clean"} <= targets()


def test_readme_names_only_targets_that_exist() -> None:
    readme = PROJECT / "README.md"
    if not readme.exists():
        pytest.skip("no README yet")
    named = set(re.findall(r"\bmake ([a-z]+)\b(?=`|\s*#|\s*$)", readme.read_text(), re.MULTILINE))
    assert named <= targets()


@pytest.mark.parametrize("target", ["setup", "demo", "test", "soak", "bench", "lint", "clean"])
def test_every_target_can_be_planned_and_is_short(target: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    makefile = (PROJECT / "Makefile").read_text()
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    assert recipe[1].count("\n") <= 2


def test_ci_runs_make_test_without_input() -> None:
    run = PROJECT / ".ci" / "run"
    assert run.stat().st_mode & 0o111
    assert run.read_text().splitlines()[-1] == "exec make test </dev/null"
