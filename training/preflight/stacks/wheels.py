"""The Python packages of a notebook that does not get them from PyPI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.cloudformation import CloudFormation
from training.aws.errors import AwsRefused
from training.aws.s3 import S3
from training.outputs import StorageOutputs, output_key
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class WheelsAreThere(Check):
    """The folder of the bucket that the notebook installs from is not empty."""

    codes: ClassVar[Mapping[str, Severity]] = {"notebook-wheels-missing": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:DescribeStacks", "s3:ListBucket")

    s3: S3
    cloudformation: CloudFormation
    bucket: str | None
    """None: the one that StorageStack made, if it did."""
    folder: str

    def find(self) -> Iterator[Finding]:
        bucket = self.bucket or self._made()
        if bucket and not self._has_wheels(bucket):
            yield self.found(
                "notebook-wheels-missing",
                "notebook_wheels",
                f"the notebook installs its packages from s3://{bucket}/{self.folder}, where "
                "nothing is: its start fails. Fill it: python -m toolchain.notebook wheels wheels, "
                f"then aws s3 sync wheels s3://{bucket}/{self.folder}",
            )

    def _made(self) -> str | None:
        outputs = self.cloudformation.outputs(StorageOutputs.STACK)
        return outputs.get(output_key("bucket_name"))

    def _has_wheels(self, bucket: str) -> bool:
        try:
            return self.s3.has_objects(bucket, f"{self.folder}/")
        except AwsRefused as error:
            if error.code == "NoSuchBucket":
                return True  # Another check says so.
            raise
