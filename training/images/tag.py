"""The tag of an image: a hash of its sources, so that it is known before the image is built."""

from __future__ import annotations

import hashlib
from pathlib import Path

from training.images.recipes import RECIPES, Variant
from training.images.sources import PROJECT, find_sources

LENGTH = 16
"""Hex digits: two images of one repository never have the same ones by chance."""


def image_tag(algorithm: str, *, variant: Variant = "gpu", project: Path = PROJECT) -> str:
    """Return the tag of an algorithm's image as the sources of this project make it.

    Not in it: where base image and packages are fetched from, which a build is told.

    Args:
        algorithm: A key of `RECIPES`.
        variant: Each but `gpu` has its own tag, as in `<hash>-cpu`.
        project: The root of the project.
    """
    recipe = RECIPES[algorithm].of(variant)
    digest = hashlib.sha256(algorithm.encode())
    for path, file in find_sources(project, recipe.sources).items():
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"\n{path} {content}".encode())
    tag = digest.hexdigest()[:LENGTH]
    return tag if variant == "gpu" else f"{tag}-{variant}"


def local_name(algorithm: str, *, variant: Variant = "gpu", project: Path = PROJECT) -> str:
    """Return what the image is called on the machine that builds it."""
    return (
        f"localhost/mask-rcnn/{algorithm}:{image_tag(algorithm, variant=variant, project=project)}"
    )
