"""The secret with which the notebook reads its Git repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.secrets import Secrets
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "notebook_git_secret_arn"

# https://docs.aws.amazon.com/sagemaker/latest/dg/nbi-git-resource.html
NEEDED_KEYS = ("username", "password")


@dataclass(frozen=True)
class GitSecretIsThere(Check):
    """The secret exists, in this region, and has what SageMaker looks for. Values are not kept."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "git-secret-missing": "error",
        "git-secret-deleted": "error",
        "git-secret-in-another-region": "error",
        "git-secret-without-keys": "error",
        "git-secret-not-read": "info",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "secretsmanager:DescribeSecret",
        "secretsmanager:GetSecretValue",
    )

    secrets: Secrets
    arn: str
    region: str

    def find(self) -> Iterator[Finding]:
        region = self.arn.split(":")[3]
        if region != self.region:
            yield self.found(
                "git-secret-in-another-region",
                KEY,
                f"{KEY} is a secret in {region}, but the notebook will be in {self.region}. "
                f"Replicate it there, or make one: aws secretsmanager create-secret --region "
                f"{self.region}",
            )
            return
        secret = self.secrets.secret(self.arn)
        if secret is None:
            yield self.found(
                "git-secret-missing",
                KEY,
                f"{KEY} is {self.arn}, and there is no such secret. Correct the ARN (aws "
                "secretsmanager list-secrets shows them)",
            )
        elif secret.get("DeletedDate"):
            yield self.found(
                "git-secret-deleted",
                KEY,
                f"{KEY}: {secret['Name']} is to be deleted and cannot be read. Take that back: aws "
                f"secretsmanager restore-secret --secret-id {self.arn}",
            )
        else:
            yield from self._judge_keys(secret["Name"])

    def _judge_keys(self, name: str) -> Iterator[Finding]:
        try:
            there = self.secrets.filled_keys(self.arn)
        except AwsRefused as error:
            if not error.is_denial:
                raise
            yield self.found(
                "git-secret-not-read",
                KEY,
                f"{KEY}: {name} is there; whether it has the keys username and password was not "
                f"looked at, since your identity may not read it ({error.action})",
            )
            return
        missing = [key for key in NEEDED_KEYS if key not in there]
        if missing:
            yield self.found(
                "git-secret-without-keys",
                KEY,
                f"{KEY}: {name} has no {' and no '.join(missing)}. SageMaker reads a JSON object "
                'of the form {"username": "…", "password": "…"}, with the token as password',
            )
