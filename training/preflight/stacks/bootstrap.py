"""The CDK's own stack, through which every deploy goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ssm import Ssm
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

MINIMUM_VERSION = 6
"""What the CDK's default synthesizer asks for; templates state it as a rule of their own.

https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-troubleshoot.html
"""

DEFAULT_QUALIFIER = "hnb659fds"
QUALIFIER_KEY = "@aws-cdk/core:bootstrapQualifier"


@dataclass(frozen=True)
class AccountIsBootstrapped(Check):
    """`cdk bootstrap` was run in this account and region, by a version that is not too old."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "bootstrap-missing": "error",
        "bootstrap-too-old": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ssm:GetParameter",)

    ssm: Ssm
    account: str
    region: str
    qualifier: str

    def find(self) -> Iterator[Finding]:
        parameter = f"/cdk-bootstrap/{self.qualifier}/version"
        version = self.ssm.parameter(parameter)
        command = f"cdk bootstrap aws://{self.account}/{self.region}"
        if self.qualifier != DEFAULT_QUALIFIER:
            command += f" --qualifier {self.qualifier}"
        if version is None:
            yield self.found(
                "bootstrap-missing",
                parameter,
                f"the account {self.account} is not prepared for the CDK in {self.region} (no "
                f"parameter {parameter}). Run once: {command}",
            )
        elif not version.isdigit() or int(version) < MINIMUM_VERSION:
            yield self.found(
                "bootstrap-too-old",
                parameter,
                f"the CDK's bootstrap stack has version {version}, and these stacks need "
                f"{MINIMUM_VERSION} or newer. Run again: {command}",
            )
