"""Which image of this machine a job runs."""

from __future__ import annotations

import pytest

from tests.training.platforms.sagemaker.containers.stand_in import StandIn
from training.errors import PreflightError
from training.images.tag import image_tag, local_name
from training.platforms.sagemaker.containers.image import find_image

IN_ECR = f"1.dkr.ecr.us-east-1.amazonaws.com/horovod:{image_tag('horovod')}"
CPU, GPU = local_name("horovod", variant="cpu"), local_name("horovod")
SMDDP = local_name("horovod", variant="smddp")
"""Runs on Amazon's instances alone."""


@pytest.mark.parametrize(
    ("here", "gpus", "taken"),
    [
        ([IN_ECR, GPU, CPU], False, IN_ECR),
        ([GPU, CPU], False, CPU),
        ([GPU, CPU], True, GPU),
        ([CPU], True, CPU),
        ([SMDDP, GPU], True, GPU),
    ],
)
def test_the_named_image_or_what_was_built_here_from_the_same_sources(
    here: list[str], gpus: bool, taken: str, stand_in: StandIn
) -> None:
    (stand_in.state / "images").write_text("\n".join(here))
    assert find_image(stand_in.engine, IN_ECR, "horovod", gpus=gpus) == taken


def test_an_image_of_other_sources_is_not_taken_for_another(stand_in: StandIn) -> None:
    (stand_in.state / "images").write_text("\n".join([GPU, CPU]))
    other = IN_ECR.replace(image_tag("horovod"), "0123456789abcdef")
    with pytest.raises(PreflightError) as caught:
        find_image(stand_in.engine, other, "horovod", gpus=False)
    assert str(caught.value) == (
        f"podman has no image {other}, which the job names with `image`. Bring it here (podman "
        "pull, or build), or leave `image` out for the one of this project: python -m "
        "training.images build --algorithm horovod --variant cpu"
    )


def test_an_image_that_is_to_be_built_here_is_named_once(stand_in: StandIn) -> None:
    with pytest.raises(PreflightError) as caught:
        find_image(stand_in.engine, GPU, "horovod", gpus=False)
    assert str(caught.value) == (
        f"podman has no image {GPU} nor {CPU}. Build it: python -m training.images build "
        "--algorithm horovod --variant cpu; or name one with `image`"
    )
