"""The policy that bounds every role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class BoundaryIsThere(Check):
    """`permissions_boundary` names a policy that this account has."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "boundary-missing": "error",
        "boundary-of-another-account": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("iam:GetPolicy",)

    iam: Iam
    arn: str
    account: str

    def find(self) -> Iterator[Finding]:
        owner = self.arn.split(":")[4]
        if owner not in ("aws", self.account):
            yield self.found(
                "boundary-of-another-account",
                "permissions_boundary",
                f"permissions_boundary is {self.arn}, a policy of account {owner}, but the stacks "
                f"go to {self.account}. IAM takes policies of the same account only",
            )
        elif not self.iam.has_policy(self.arn):
            yield self.found(
                "boundary-missing",
                "permissions_boundary",
                f"permissions_boundary is {self.arn}, and there is no such policy. Correct the "
                "ARN (aws iam list-policies --scope Local shows them), or leave the setting out",
            )
