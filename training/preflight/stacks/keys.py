"""The keys of KMS that the settings name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.kms import Kms
from training.aws.policy import Policy
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.fsx_roles import S3_ACCESS


@dataclass(frozen=True)
class KeyIsFit(Check):
    """A key is there, switched on, symmetric and in this region."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "key-in-another-region": "error",
        "key-missing": "error",
        "key-not-enabled": "error",
        "key-not-symmetric": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("kms:DescribeKey",)

    kms: Kms
    setting: str
    arn: str
    region: str

    def find(self) -> Iterator[Finding]:
        region = self.arn.split(":")[3]
        if region != self.region:
            yield self.found(
                "key-in-another-region",
                self.setting,
                f"{self.setting} is a key in {region}, but the stacks go to {self.region}. Keys "
                f"work in their own region only: name one of {self.region}",
            )
            return
        key = self.kms.key(self.arn)
        if key is None:
            yield self.found(
                "key-missing",
                self.setting,
                f"{self.setting} is {self.arn}, and there is no such key. Correct the ARN (aws kms "
                "list-keys shows them), or leave it out",
            )
            return
        yield from self._judge(key)

    def _judge(self, key: Mapping[str, Any]) -> Iterator[Finding]:
        state = key["KeyState"]
        if state != "Enabled":
            remedy = {
                "Disabled": f"Switch it on: aws kms enable-key --key-id {self.arn}",
                "PendingDeletion": "Take that back and switch it on: aws kms cancel-key-deletion "
                f"--key-id {self.arn}, then aws kms enable-key",
            }.get(state, "Name another key")
            yield self.found(
                "key-not-enabled",
                self.setting,
                f"{self.setting}: {self.arn} is {state} and encrypts nothing. {remedy}",
            )
        spec = key.get("KeySpec", "SYMMETRIC_DEFAULT")
        usage = key.get("KeyUsage", "ENCRYPT_DECRYPT")
        if spec != "SYMMETRIC_DEFAULT" or usage != "ENCRYPT_DECRYPT":
            yield self.found(
                "key-not-symmetric",
                self.setting,
                f"{self.setting}: {self.arn} is a key of kind {spec} for {usage}; S3, EFS and FSx "
                "take SYMMETRIC_DEFAULT for ENCRYPT_DECRYPT only. Name such a key, or leave it out",
            )


@dataclass(frozen=True)
class KeyAdmitsFsx(Check):
    """The key's policy lets FSx's role use it, which has no other right to it.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {"key-closed-to-fsx": "error"}
    actions: ClassVar[tuple[str, ...]] = ("kms:DescribeKey", "kms:GetKeyPolicy")

    kms: Kms
    setting: str
    arn: str
    region: str
    account: str

    def find(self) -> Iterator[Finding]:
        if self.arn.split(":")[3] != self.region:
            return  # Another check says so.
        key = self.kms.key(self.arn)
        # What AWS manages lets in everyone of the account who comes through S3.
        if key is None or key.get("KeyManager") == "AWS":
            return
        policy = self.kms.policy(self.arn)
        missing = [name for name in ("Decrypt", "GenerateDataKey") if not _admits(policy, name)]
        if missing:
            partition = self.arn.split(":")[1]
            yield self.found(
                "key-closed-to-fsx",
                self.setting,
                f"{self.setting}: the policy of {self.arn} does not let FSx for Lustre "
                f"{' and '.join(missing)}, so that it cannot read or write the bucket. Allow "
                "kms:Encrypt, kms:Decrypt, kms:ReEncrypt*, kms:GenerateDataKey* and "
                "kms:DescribeKey to principal *, where aws:PrincipalArn is like "
                f"arn:{partition}:iam::{self.account}:role/aws-service-role/{S3_ACCESS}/*",
            )


def _admits(policy: Policy, name: str) -> bool:
    """Return whether FSx's roles are let in, by name or with everyone.

    A statement for the whole account does not do: it leaves the decision to the role's own
    policies, and those of FSx's roles say nothing of keys.
    """
    return any(
        statement.is_about_everyone or any(S3_ACCESS in who for who in statement.principals)
        for statement in policy.allowing(f"kms:{name}")
    )
