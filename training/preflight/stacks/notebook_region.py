"""The region of the notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

WITHOUT_NOTEBOOKS = frozenset({"me-central-1", "us-gov-east-1"})
"""Regions where CloudFormation has SageMaker, but no AWS::SageMaker::NotebookInstance.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
"""


@dataclass(frozen=True)
class RegionHasNotebooks(Check):
    """SageMaker has notebook instances in this region."""

    codes: ClassVar[Mapping[str, Severity]] = {"notebooks-not-in-region": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    region: str

    def find(self) -> Iterator[Finding]:
        if self.region in WITHOUT_NOTEBOOKS:
            yield self.found(
                "notebooks-not-in-region",
                "aws_region",
                f"SageMaker has no notebook instances in {self.region}, so that NotebookStack "
                "fails. Deploy the others alone (cdk deploy StorageStack RegistryStack), or choose "
                "another region (aws_region)",
            )
