"""The EC2 key pair of the cluster's nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "cluster_key_name"


@dataclass(frozen=True)
class KeyPairIsThere(Check):
    """The key pair exists in this region."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-key-pair-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeKeyPairs",)

    ec2: Ec2
    region: str
    name: str

    def find(self) -> Iterator[Finding]:
        if not self.ec2.has_key_pair(self.name):
            yield self.found(
                "cluster-key-pair-missing",
                KEY,
                f"{KEY} is {self.name}, and {self.region} has no key pair of that name. Correct it "
                "(aws ec2 describe-key-pairs shows them), import yours (aws ec2 import-key-pair), "
                "or leave it out: jobs do not need it",
            )
