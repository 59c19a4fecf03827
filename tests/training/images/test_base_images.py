"""Names of base images, by region and partition."""

from __future__ import annotations

import re

import pytest

from training.errors import UsageError
from training.images.base_images import ACCOUNTS, TENSORFLOW_1
from training.images.recipes import RECIPES


@pytest.mark.parametrize(
    ("algorithm", "region", "uri"),
    [
        ("horovod", "eu-west-1", "docker.io/library/debian:bookworm-slim"),
        ("tensorpack", "cn-north-1", "docker.io/library/debian:bookworm-slim"),
        # The original tutorial's.
        (
            "aws-samples",
            "us-west-2",
            "763104351884.dkr.ecr.us-west-2.amazonaws.com/tensorflow-training:"
            "1.15.2-gpu-py36-cu100-ubuntu18.04",
        ),
        (
            "tf2-smddp",
            "eu-south-2",
            "503227376785.dkr.ecr.eu-south-2.amazonaws.com/tensorflow-training:"
            "2.11.0-gpu-py39-cu112-ubuntu20.04-sagemaker",
        ),
        (
            "tf2-smddp",
            "cn-northwest-1",
            "727897471807.dkr.ecr.cn-northwest-1.amazonaws.com.cn/tensorflow-training:"
            "2.11.0-gpu-py39-cu112-ubuntu20.04-sagemaker",
        ),
        (
            "aws-samples",
            "us-gov-west-1",
            "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com/tensorflow-training:"
            "1.15.2-gpu-py36-cu100-ubuntu18.04",
        ),
    ],
)
def test_the_base_of_an_image(algorithm: str, region: str, uri: str) -> None:
    assert RECIPES[algorithm].base.uri(region) == uri


def test_a_variant_may_have_a_base_of_its_own() -> None:
    assert RECIPES["horovod"].of("smddp").base.uri("eu-west-1") == (
        "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:"
        "2.3.0-gpu-py311-cu121-ubuntu20.04-sagemaker"
    )
    assert RECIPES["horovod"].of("cpu") is RECIPES["horovod"]


def test_an_unknown_region_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"--region: 'mars-1': .*us-east-1.*--base-image"):
        TENSORFLOW_1.uri("mars-1")


def test_every_account_is_one() -> None:
    assert len(ACCOUNTS) == 38
    for region, account in ACCOUNTS.items():
        assert re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region)
        assert re.fullmatch(r"\d{12}", account)
