"""The job's container image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from training.aws.ecr import Ecr
from training.data.progress import format_bytes
from training.images.recipes import Variant
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "image"

TOLD_FROM, OLD_FROM = timedelta(days=90), timedelta(days=365)
"""Ages from which an image's age is told, and is a warning: its base gets no more fixes."""

LARGE_BYTES = 10 * 10**9
"""Compressed, as ECR has it: some three times what this project's images have."""

_URI = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
    r"(?P<repository>[a-z0-9._/-]+?)(:(?P<tag>[A-Za-z0-9_.-]+))?(@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html"""


@dataclass(frozen=True)
class ImageIsThere(Check):
    """The image is in ECR, in the region of the job, and neither old nor too large.

    SageMaker pulls from no other region: https://github.com/aws/amazon-sagemaker-examples/issues/2422
    Images of other accounts, such as AWS's own, are not looked at: their registries tell nobody.

    Attributes:
        algorithm, variant: Which image of this project can run the job.
        volume_gib: Of the volume that a node unpacks it on; None where that is not known, as of
            SageMaker's machines.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "image-not-in-ecr": "error",
        "image-in-another-region": "error",
        "image-missing": "error",
        "image-larger-than-volume": "warning",
        "image-old": "warning",
        "image-details": "info",
    }
    actions: ClassVar[tuple[str, ...]] = ("ecr:DescribeImages",)

    ecr: Ecr
    image: str
    algorithm: str
    region: str
    account: str
    variant: Variant = "gpu"
    volume_gib: int | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

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
        elif uri["account"] == self.account:
            # As docker does, ECR takes `latest` where nothing is said.
            tag = uri["tag"] or "latest"
            found = self.ecr.image(uri["repository"], tag=tag, digest=uri["digest"])
            if found is None:
                yield self.found(
                    "image-missing",
                    KEY,
                    f"{self.image} is not in ECR. Build and push it: {self._push()}",
                )
            else:
                yield from self._judge(found)

    def _judge(self, found: Mapping[str, Any]) -> Iterator[Finding]:
        """Judge what ECR says of the image; it leaves out what it does not know."""
        size = int(found.get("imageSizeInBytes", 0))
        pushed = found.get("imagePushedAt")
        age = self.now - pushed if pushed else timedelta()
        told = f"{self.image} has {format_bytes(size)} compressed"
        if self.volume_gib is not None and size >= self.volume_gib * 2**30:
            yield self.found(
                "image-larger-than-volume",
                KEY,
                f"{told}, and the volume that nodes unpack it on {self.volume_gib} GiB. Make it "
                "smaller, or the volume larger (eks_gpu_volume_gib)",
            )
        if age >= OLD_FROM:
            yield self.found(
                "image-old",
                KEY,
                f"{self.image} was pushed {age.days} days ago: what was fixed since in all that "
                f"it holds, it lacks. Build it again: {self._push()}",
            )
        elif age >= TOLD_FROM or size >= LARGE_BYTES:
            yield self.found(
                "image-details",
                KEY,
                f"{told}, which each machine pulls before it begins, and was pushed {age.days} "
                "days ago",
            )

    def _push(self) -> str:
        variant = "" if self.variant == "gpu" else f" --variant {self.variant}"
        return f"python -m training.images push --algorithm {self.algorithm}{variant}"
