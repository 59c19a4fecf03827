"""`python -m training.images sbom`: what an image holds, package by package."""

from __future__ import annotations

from training.cli import result
from training.container_engine import RUNNERS, find_engine
from training.errors import JobFailed, UsageError
from training.images.build import AlgorithmOption, EngineOption, VariantOption, choose
from training.images.tag import local_name

PLACE = "/opt/mask-rcnn/sbom.json"
"""In each image; `docker/sbom.py` writes it when the image is built."""


def sbom(
    algorithm: AlgorithmOption = "horovod",
    variant: VariantOption = "gpu",
    engine: EngineOption = None,
) -> None:
    """Print the CycloneDX document of an image that is built here.

    Every Debian and Python package with its version, for scanners of known faults.
    """
    _, chosen = choose(algorithm, variant)
    name = local_name(algorithm, variant=chosen)
    found = find_engine(engine, RUNNERS)
    if not found.has_image(name):
        raise UsageError(
            f"{name}: not on this machine. Build it: python -m training.images build --algorithm "
            f"{algorithm} --variant {variant}"
        )
    answer = found.ask(
        "run", "--rm", "--network", "none", *found.limits(), "--entrypoint", "cat", name, PLACE
    )
    if answer.returncode:
        raise JobFailed(f"{name}: {PLACE} cannot be read: {answer.stderr.strip()}")
    result.print(answer.stdout.rstrip(), markup=False, highlight=False, soft_wrap=True)
