"""The versions in the trainer's image: those of everything else here."""

from __future__ import annotations

from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT


def pins(path: Path) -> dict[str, str]:
    """Return package -> its line."""
    lines = path.read_text().splitlines()
    return {canonicalize_name(line.split("==")[0]): line for line in lines if "==" in line}


def needed(requirements: Path) -> set[str]:
    """Return the packages of a requirements file, and all that they need."""
    lines = requirements.read_text().splitlines()
    found, seen = set(), set()
    todo = [Requirement(line) for line in lines if line and not line.startswith("#")]
    while todo:
        requirement = todo.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        found.add(canonicalize_name(requirement.name))
        extras = requirement.extras or {""}
        for other in map(Requirement, requires(requirement.name) or ()):
            marker = other.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(other)
    return found


def test_the_image_pins_what_the_trainer_needs_as_the_whole_project_does() -> None:
    whole = pins(ROOT / "constraints.txt")
    wanted = {name: whole[name] for name in needed(ROOT / "requirements-train.txt")}
    assert pins(ROOT / "docker/horovod/constraints.txt") == wanted
