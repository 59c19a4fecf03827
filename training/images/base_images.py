"""THE table of base images: what each image is built on, with account, region and tag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from training.errors import UsageError

DEFAULT_REGION = "us-east-1"
"""Where Amazon's images are taken from unless the build says otherwise."""

_COMMERCIAL = (
    "us-east-1 us-east-2 us-west-1 us-west-2 ca-central-1 sa-east-1 eu-central-1 eu-north-1 "
    "eu-west-1 eu-west-2 eu-west-3 ap-northeast-1 ap-northeast-2 ap-south-1 ap-southeast-1 "
    "ap-southeast-2"
)
_CHINA = ("cn-north-1", "cn-northwest-1")

ACCOUNTS: Mapping[str, str] = {
    **dict.fromkeys(_COMMERCIAL.split(), "763104351884"),
    **dict.fromkeys(_CHINA, "727897471807"),
    "us-gov-west-1": "442386744353",
    "us-gov-east-1": "446045086412",
    "af-south-1": "626614931356",
    "ap-east-1": "871362719292",
    "ap-east-2": "975050140332",
    "ap-northeast-3": "364406365360",
    "ap-south-2": "772153158452",
    "ap-southeast-3": "907027046896",
    "ap-southeast-4": "457447274322",
    "ap-southeast-5": "550225433462",
    "ap-southeast-6": "633930458069",
    "ap-southeast-7": "590183813437",
    "ca-west-1": "204538143572",
    "mx-central-1": "637423239942",
    "eu-central-2": "380420809688",
    "eu-south-1": "692866216735",
    "eu-south-2": "503227376785",
    "il-central-1": "780543022126",
    "me-central-1": "914824155844",
    "me-south-1": "217643126080",
}
"""Region -> account of the Deep Learning Containers there.

Source: aws/deep-learning-containers at e0ecedea6a1c, docs/reference/region_availability.md, and
image_uri_config/tensorflow.json of sagemaker-core 2.27.0, which agree. Left out are the regions of
secret partitions, whose registry addresses neither of them gives."""

_SUFFIXES = dict.fromkeys(_CHINA, "amazonaws.com.cn")
"""Of a registry's address, where it is not `amazonaws.com`: partition aws-cn."""


@dataclass(frozen=True, kw_only=True)
class PublicImage:
    """An image that anybody can pull, from one place."""

    name: str

    def uri(self, region: str) -> str:  # noqa: ARG002  the same from everywhere
        return self.name


@dataclass(frozen=True, kw_only=True)
class DeepLearningContainer:
    """One of Amazon's images; an engine has to be signed in to the registry of its account."""

    repository: str
    tag: str

    def uri(self, region: str) -> str:
        """Return the image's name in a region.

        Raises:
            UsageError: There are no such images.
        """
        account = ACCOUNTS.get(region)
        if account is None:
            raise UsageError(
                f"--region: {region!r}: no account of the Deep Learning Containers is known for "
                f"it; there are {', '.join(sorted(ACCOUNTS))}; or name an image: --base-image"
            )
        suffix = _SUFFIXES.get(region, "amazonaws.com")
        return f"{account}.dkr.ecr.{region}.{suffix}/{self.repository}:{self.tag}"


BaseImage = PublicImage | DeepLearningContainer

DEBIAN = PublicImage(name="docker.io/library/debian:bookworm-slim")
"""The default of the Dockerfiles that begin with it."""

DEBIAN_AT_AMAZON = PublicImage(name="public.ecr.aws/docker/library/debian:bookworm-slim")
"""The same image. Docker Hub limits how often an address without an account may pull, and builds in
AWS share theirs (https://docs.docker.com/docker-hub/usage/pulls/)."""

TENSORFLOW_1 = DeepLearningContainer(
    repository="tensorflow-training", tag="1.15.2-gpu-py36-cu100-ubuntu18.04"
)
"""Python 3.6. The first of them with the operators of Amazon's own that aws-samples calls
(aws/amazon-sagemaker-examples#1405)."""

TENSORFLOW_2_SMDDP = DeepLearningContainer(
    repository="tensorflow-training", tag="2.11.0-gpu-py39-cu112-ubuntu20.04-sagemaker"
)
"""Python 3.9. The last with the data parallel library, 1.4.1: aws/deep-learning-containers at
004350f3fe53, tensorflow/training/docker/2.11/py3/cu112/Dockerfile.gpu."""

PYTORCH_SMDDP = DeepLearningContainer(
    repository="pytorch-training", tag="2.3.0-gpu-py311-cu121-ubuntu20.04-sagemaker"
)
"""Python 3.11, torch 2.3.0, torchvision 0.18.0, NCCL 2.21.5, EFA 1.32.0. The last with the data
parallel library, 2.3.0: https://docs.aws.amazon.com/sagemaker/latest/dg/
distributed-data-parallel-support.html, and aws/deep-learning-containers at de57dd9dbdae,
pytorch/training/docker/2.3/py3/cu121/Dockerfile.gpu. The library's 2.5.0, for torch 2.4.1, is in
images of the model parallel library alone."""

AMAZONS_IMAGES = (TENSORFLOW_1, TENSORFLOW_2_SMDDP, PYTORCH_SMDDP)
"""Whoever builds must be let in to their repositories."""
