"""The KMS keys of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.kms import Kms
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class KeyIsEnabled(Check):
    """The key that encrypts what the job leaves is there and switched on."""

    codes: ClassVar[Mapping[str, Severity]] = {"key-missing": "error", "key-not-enabled": "error"}
    actions: ClassVar[tuple[str, ...]] = ("kms:DescribeKey",)

    kms: Kms
    arn: str

    def find(self) -> Iterator[Finding]:
        key = self.kms.key(self.arn)
        if key is None:
            yield self.found(
                "key-missing",
                self.arn,
                f"there is no KMS key {self.arn}; deploy StorageStack again, or read its outputs "
                "anew (leave --outputs-file out)",
            )
        elif key["KeyState"] != "Enabled":
            yield self.found(
                "key-not-enabled",
                self.arn,
                f"the KMS key {self.arn} is {key['KeyState']}: a job can neither read its data nor "
                f"write its results. Switch it on: {_command(key['KeyState'], self.arn)}",
            )


def _command(state: str, arn: str) -> str:
    enable = f"aws kms enable-key --key-id {arn}"
    if state == "PendingDeletion":
        return f"aws kms cancel-key-deletion --key-id {arn}, then {enable}"
    return enable
