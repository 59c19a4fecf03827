"""Whether the data fits on the instances, where SageMaker copies it there before the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.s3 import S3
from training.data.manifest import MANIFEST, parse_manifest
from training.data.progress import format_bytes
from training.errors import UsageError
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import S3Place


@dataclass(frozen=True)
class DataFitsOnTheVolume(Check):
    """The data on S3, by its manifest, is smaller than the volume that File mode copies it to.

    https://docs.aws.amazon.com/sagemaker/latest/dg/model-train-storage.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "data-larger-than-volume": "error",
        "data-manifest-unreadable": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)

    s3: S3
    train: S3Place
    volume_bytes: int
    is_ebs: bool
    """Whether its size is the user's choice."""

    def find(self) -> Iterator[Finding]:
        key = f"{self.train.key}/{MANIFEST}"
        document = self.s3.read(self.train.bucket, key)
        if document is None:
            return  # Another check says so.
        try:
            files = parse_manifest(document, f"s3://{self.train.bucket}/{key}").files
        except UsageError as error:
            yield self.found("data-manifest-unreadable", "channels.train", str(error))
            return
        total = sum(entry.size for entry in files)
        if total >= self.volume_bytes:
            larger = (
                "raise sagemaker.volume_gib" if self.is_ebs else "take a type with more local NVMe"
            )
            yield self.found(
                "data-larger-than-volume",
                "sagemaker.volume_gib",
                f"{self.train} has {format_bytes(total)}, and the volume of each instance "
                f"{format_bytes(self.volume_bytes)}: the copy before the start would fail. Stream "
                f"it (sagemaker.input_mode FastFile), or {larger}",
            )
