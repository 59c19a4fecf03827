"""Where a job leaves its results on S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.s3 import S3
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class OutputBucketIsThere(Check):
    """The bucket of data and results is there, and in the region of the job."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "bucket-missing": "error",
        "bucket-forbidden": "warning",
        "bucket-in-another-region": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("s3:ListBucket",)

    s3: S3
    bucket: str
    region: str

    def find(self) -> Iterator[Finding]:
        try:
            region = self.s3.region(self.bucket)
        except AwsRefused as error:
            yield self._refused(error)
            return
        if region != self.region:
            # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html
            yield self.found(
                "bucket-in-another-region",
                self.bucket,
                f"bucket {self.bucket} is in {region}, and the job would run in {self.region}. Set "
                f"AWS_REGION={region}",
            )

    def _refused(self, error: AwsRefused) -> Finding:
        if error.code == "404":
            return self.found(
                "bucket-missing",
                self.bucket,
                f"there is no bucket {self.bucket}; deploy StorageStack again, or read its outputs "
                "anew (leave --outputs-file out)",
            )
        if error.code == "403":
            return self.found(
                "bucket-forbidden",
                self.bucket,
                f"bucket {self.bucket} does not let you in, so that nobody looked whether data is "
                "there: it is another account's, or you lack s3:ListBucket on it",
            )
        raise error
