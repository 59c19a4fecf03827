"""The job's container image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ecr import Ecr
from training.images.recipes import Variant
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "image"

_URI = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
    r"(?P<repository>[a-z0-9._/-]+?)(:(?P<tag>[A-Za-z0-9_.-]+))?(@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html"""


@dataclass(frozen=True)
class ImageIsThere(Check):
    """The image is in ECR, in the region of the job.

    SageMaker pulls from no other region: https://github.com/aws/amazon-sagemaker-examples/issues/2422
    Images of other accounts, such as AWS's own, are not looked at: their registries tell nobody.

    Attributes:
        algorithm, variant: Which image of this project can run the job.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "image-not-in-ecr": "error",
        "image-in-another-region": "error",
        "image-missing": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ecr:DescribeImages",)

    ecr: Ecr
    image: str
    algorithm: str
    region: str
    account: str
    variant: Variant = "gpu"

    def find(self) -> Iterator[Finding]:
        uri = _URI.fullmatch(self.image)
        if uri is None:
            # https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-containers-adapt-private-registry.html
            yield self.found(
                "image-not-in-ecr",
                KEY,
                f"{self.image} is in no ECR registry, and SageMaker takes the image of a job from "
                "there; push it to ECR, or leave image out for the one of this project",
            )
        elif uri["region"] != self.region:
            yield self.found(
                "image-in-another-region",
                KEY,
                f"{self.image} is in {uri['region']}, and the job would run in {self.region}. Push "
                f"it to a repository there ({self._push()}), or set AWS_REGION={uri['region']}",
            )
        elif uri["account"] == self.account and not self._is_there(uri):
            yield self.found(
                "image-missing",
                KEY,
                f"{self.image} is not in ECR. Build and push it: {self._push()}",
            )

    def _is_there(self, uri: re.Match[str]) -> bool:
        # As docker does, ECR takes `latest` where nothing is said.
        tag = uri["tag"] or "latest"
        return self.ecr.image(uri["repository"], tag=tag, digest=uri["digest"]) is not None

    def _push(self) -> str:
        variant = "" if self.variant == "gpu" else f" --variant {self.variant}"
        return f"python -m training.images push --algorithm {self.algorithm}{variant}"
