"""Brings an image into its repository, unless it is there: looks, builds if need be, pushes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from training.cli import log
from training.container_engine import BUILDERS, find_engine
from training.errors import PreflightError
from training.images.build import Origin, build_unless_here
from training.images.complaints import TagTaken
from training.images.destination import Destination
from training.images.image_id import image_id
from training.images.published import Published, find, find_pushed
from training.images.recipes import Recipe, Variant
from training.images.tag import image_tag, local_name
from training.images.upload import Upload, upload

if TYPE_CHECKING:
    from training.aws.ecr import Ecr


@dataclass(frozen=True, kw_only=True)
class Image:
    """The image that these sources make, here and in the registry."""

    algorithm: str
    recipe: Recipe
    variant: Variant
    name: str
    """On this machine."""
    tag: str
    destination: Destination

    @classmethod
    def of(cls, algorithm: str, recipe: Recipe, variant: Variant, destination: Destination) -> Self:
        """Return the image of an algorithm."""
        return cls(
            algorithm=algorithm,
            recipe=recipe,
            variant=variant,
            name=local_name(algorithm, variant=variant),
            tag=image_tag(algorithm, variant=variant),
            destination=destination,
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a push came to."""

    published: Published
    pushed: bool
    built: bool
    is_same: bool | None
    """Whether this machine's image is the one in the registry; None: it has none."""


def bring(image: Image, ecr: Ecr, wanted_engine: str | None, origin: Origin) -> Outcome:
    """Look whether the image is in the repository; else build it if need be, and push it.

    Raises:
        UsageError: The repository, or a source of the image, is not there.
        PreflightError: No engine works here, or there is too little space to build.
        JobFailed: The build failed, or a disk is full.
        AwsError: ECR refused, could not be reached, or has another image than was pushed.
    """
    there = find(ecr, image.destination, image.tag)
    if there is not None:
        return _there_already(image, there, wanted_engine)
    engine = find_engine(wanted_engine, BUILDERS)
    built = build_unless_here(engine, image.recipe, image.name, image.variant, origin)
    order = Upload(engine=engine, source=image.name, destination=image.destination, tag=image.tag)
    log.print(f"pushing {image.name} to {image.destination.tagged(image.tag)}")
    try:
        digest = upload(order, ecr.token, log.print)
    except TagTaken:
        there = find(ecr, image.destination, image.tag)
        if there is None:
            raise
        return _there_already(image, there, wanted_engine)
    pushed = find_pushed(ecr, image.destination, image.tag, digest)
    return Outcome(published=pushed, pushed=True, built=built, is_same=True)


def _there_already(image: Image, there: Published, wanted_engine: str | None) -> Outcome:
    is_same = _is_same(image, there, wanted_engine)
    place = image.destination.tagged(image.tag)
    log.print(f"{place}: there already, nothing to push")
    if is_same is False:
        log.print(
            "warning: this machine's own image of the same sources is another one, since each "
            "build gives other bytes. Tags never change, so that jobs run the one in the registry. "
            "To run that here too, pull it; to publish yours, push it under another tag and name "
            "it in the job spec (image:)"
        )
    return Outcome(published=there, pushed=False, built=False, is_same=is_same)


def _is_same(image: Image, there: Published, wanted_engine: str | None) -> bool | None:
    """Compare with this machine's own image, if it has an engine and the image."""
    try:
        engine = find_engine(wanted_engine, BUILDERS)
    except PreflightError:  # none is needed
        return None
    here = image_id(engine, image.name)
    return None if here is None else there.is_image(here)
