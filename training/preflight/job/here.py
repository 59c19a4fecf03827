"""Checks of a job in containers on this machine: `--instance-type local`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.container_engine import RUNNERS, find_engine
from training.errors import PreflightError
from training.platforms.sagemaker.containers.image import find_image
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class ImageIsHere(Check):
    """For containers on this machine: its container engine works, and has the image."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "container-engine-missing": "error",
        "image-missing": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ()

    image: str
    algorithm: str
    gpus: bool

    def find(self) -> Iterator[Finding]:
        try:
            engine = find_engine(None, RUNNERS)
        except PreflightError as error:
            yield self.found("container-engine-missing", "instances.type", str(error))
            return
        try:
            find_image(engine, self.image, self.algorithm, gpus=self.gpus)
        except PreflightError as error:
            yield self.found("image-missing", "image", str(error))
