"""Whether FSx for Lustre can be linked to the bucket that exists already.

FSx answers "unable to validate access to the S3 bucket" where the deployer's rights do not do, and
says neither which nor whose: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-validation-error.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.policy import Statement
from training.aws.s3 import S3
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.deployer import Deployer

KEY = "bucket_name"

# s3:Get*, s3:List* and s3:PutObject are asked for; these are the ones that a link is made with.
ON_BUCKET = (
    "s3:GetBucketAcl",
    "s3:GetBucketLocation",
    "s3:GetBucketNotification",
    "s3:GetBucketPolicy",
    "s3:ListBucket",
)
ON_OBJECTS = ("s3:GetObject", "s3:PutObject")

ROLE_ACTIONS = (
    *ON_BUCKET,
    *ON_OBJECTS,
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:PutBucketNotification",
)
"""What FSx's own role does: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html"""

_FOR_OTHERS = {
    ("bool", "aws:securetransport"),
    ("boolifexists", "aws:securetransport"),
    ("numericlessthan", "s3:tlsversion"),
    ("numericlessthanifexists", "s3:tlsversion"),
}
"""Conditions of a Deny that never hold for FSx, which speaks a new TLS."""


@dataclass(frozen=True)
class BucketCanBeLinked(Check):
    """The deployer may do what FSx asks for, and the bucket's policy does not shut FSx out."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "bucket-link-not-permitted": "error",
        "bucket-policy-denies-link": "error",
        "bucket-policy-may-deny-link": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "iam:GetRole",
        "iam:SimulatePrincipalPolicy",
        "s3:GetBucketPolicy",
    )

    s3: S3
    deployer: Deployer
    bucket: str
    prefix: str | None

    def find(self) -> Iterator[Finding]:
        yield from self._judge_policy()
        yield from self._judge_deployer()

    def _judge_deployer(self) -> Iterator[Finding]:
        bucket = f"arn:{self.deployer.identity.partition}:s3:::{self.bucket}"
        objects = f"{bucket}/{self.prefix}/*" if self.prefix else f"{bucket}/*"
        lacking = {
            bucket: self.deployer.lacks(ON_BUCKET, bucket),
            objects: self.deployer.lacks(ON_OBJECTS, objects),
        }
        missing = [f"{', '.join(found)} on {arn}" for arn, found in lacking.items() if found]
        if missing:
            yield self.found(
                "bucket-link-not-permitted",
                KEY,
                f"{self.deployer.arn()}, which deploys, may not {' and not '.join(missing)}. FSx "
                "checks with its rights that the bucket can be linked, and wants s3:Get*, s3:List* "
                "and s3:PutObject there: allow them, or set fsx_bucket_link=none",
            )

    def _judge_policy(self) -> Iterator[Finding]:
        policy = self.s3.policy(self.bucket)
        statements = policy.statements if policy else ()
        for statement in statements:
            denied = [action for action in ROLE_ACTIONS if statement.covers(action)]
            if statement.is_allow or not denied or not self._is_about_fsx(statement):
                continue
            conditions = statement.conditions
            if any(found in _FOR_OTHERS for found in conditions):
                continue
            if conditions:
                yield self._may_deny(statement, denied)
            else:
                yield self.found(
                    "bucket-policy-denies-link",
                    KEY,
                    f"bucket_name: the policy of {self.bucket} denies {_listed(denied)} to "
                    f"everyone ({statement.name}), FSx for Lustre included. Leave FSx's roles out "
                    f"of that statement (aws:PrincipalArn, {self._roles()}), or set "
                    "fsx_bucket_link=none",
                )

    def _may_deny(self, statement: Statement, denied: list[str]) -> Finding:
        keys = " and ".join(dict.fromkeys(key for _, key in statement.conditions))
        return self.found(
            "bucket-policy-may-deny-link",
            KEY,
            f"bucket_name: the policy of {self.bucket} denies {_listed(denied)} depending on "
            f"{keys} ({statement.name}). If that holds for FSx for Lustre, which comes from "
            "outside your VPC, the link fails: leave FSx's roles out of that statement "
            f"(aws:PrincipalArn, {self._roles()})",
        )

    def _is_about_fsx(self, statement: Statement) -> bool:
        account = self.deployer.identity.account
        return statement.is_about_everyone or any(
            name == account or name.endswith(f":{account}:root") for name in statement.principals
        )

    def _roles(self) -> str:
        identity = self.deployer.identity
        return (
            f"arn:{identity.partition}:iam::{identity.account}:role/aws-service-role/"
            "s3.data-source.lustre.fsx.amazonaws.com/*"
        )


def _listed(actions: list[str]) -> str:
    return ", ".join(actions) if len(actions) < len(ROLE_ACTIONS) else "all that a link needs"
