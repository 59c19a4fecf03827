"""The image that a job runs in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from training import algorithms
from training.errors import UsageError
from training.job import Job, JobSpec
from training.outputs import Outputs, RegistryOutputs

if TYPE_CHECKING:
    from training.images.recipes import Variant

MAX_IMAGE_LENGTH = 255
"""https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html"""

_IMAGE = re.compile(r"[^\s/]+(/[^\s/]+)+")


def image(job: Job, outputs: Outputs, *, here: bool) -> str:
    """Return the job's image: the user's, or what this project's sources make.

    Args:
        here: For containers on this machine, which need no registry.

    Raises:
        UsageError: RegistryStack is not there, or it is no image's name.
    """
    if job.spec.image is not None:
        if len(job.spec.image) > MAX_IMAGE_LENGTH or not _IMAGE.fullmatch(job.spec.image):
            raise UsageError(
                f"image: {job.spec.image!r}: expected registry/repository:tag or "
                f"registry/repository@sha256:..., at most {MAX_IMAGE_LENGTH} characters, no spaces"
            )
        return job.spec.image
    from training.images.tag import image_tag, local_name

    if here:
        return local_name(job.spec.algorithm)
    registry = outputs.read(RegistryOutputs)
    repository = getattr(registry, algorithms.load(job.spec.algorithm).REPOSITORY)
    return f"{repository}:{image_tag(job.spec.algorithm, variant=image_variant(job.spec))}"


def image_variant(spec: JobSpec) -> Variant:
    """Return which of the algorithm's images a job runs: that with SMDDP has an older torch."""
    has_smddp = spec.platform == "sagemaker" and spec.sagemaker.distribution == "smddp"
    return "smddp" if has_smddp and spec.algorithm == "horovod" else "gpu"
