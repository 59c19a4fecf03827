"""Reads the images' Dockerfiles and the scripts that they run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT
from training.images.recipes import RECIPES, Recipe

DOCKER = ROOT / "docker"
IMAGES: dict[str, tuple[str, Recipe]] = {
    Path(recipe.folder).name: (algorithm, recipe)
    for algorithm, of_algorithm in RECIPES.items()
    for recipe in of_algorithm.each()
    if recipe.folder != "docker/notebook"
}
"""Folder below docker/ -> whose image it makes, and how. Left out is the one that runs no job:
test_notebook.py."""
THIRD_PARTY = ("tensorpack", "aws-samples", "tf2-smddp")


class Instruction(NamedTuple):
    name: str
    text: str
    """What follows the name, on one line."""


def instructions(image: str) -> list[Instruction]:
    """Return the instructions of an image's Dockerfile, in order."""
    text = (DOCKER / image / "Dockerfile").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(kept).replace("\\\n", " ")
    found = []
    for line in filter(str.strip, joined.splitlines()):
        name, _, rest = line.partition(" ")
        found.append(Instruction(name, " ".join(rest.split())))
    return found


def texts(image: str, name: str) -> list[str]:
    """Return what follows each instruction of a name."""
    return [each.text for each in instructions(image) if each.name == name]


def scripts(algorithm: str) -> list[Path]:
    """Return the shell scripts that an image's build runs."""
    return [*sorted((DOCKER / algorithm).glob("*.sh")), DOCKER / "commit.sh"]


def commands(script: Path) -> list[str]:
    """Return a script's commands, comments left out, each on one line."""
    lines = script.read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", kept)
    return [line.strip() for line in joined.splitlines() if line.strip()]
