"""Whether whoever launches may hand the head node a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.aws.sts import Identity
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.caller import principal_of

READING = ("ssm:ListCommandInvocations", "ssm:GetCommandInvocation")
"""AWS knows no finer resource for these than all commands."""


@dataclass(frozen=True)
class CallerMayAsk(Check):
    """The caller may send the cluster's document and read its answer, by its own policies."""

    codes: ClassVar[Mapping[str, Severity]] = {"job-not-permitted": "error"}
    actions: ClassVar[tuple[str, ...]] = ("iam:GetRole", "iam:SimulatePrincipalPolicy")

    iam: Iam
    identity: Identity
    region: str
    document_name: str

    def find(self) -> Iterator[Finding]:
        caller = principal_of(self.identity, self.iam)
        if caller is None:
            return
        ours = f"arn:{self.identity.partition}:ssm:{self.region}:{self.identity.account}:"
        document = f"{ours}document/{self.document_name}"
        if self.iam.not_allowed(caller, ["ssm:SendCommand"], document):
            yield self.found(
                "job-not-permitted",
                document,
                f"{caller} may not send {document}. Ask for ssm:SendCommand on it and on the "
                "instances of the head's group (docs/ec2.md has the policy), or use another "
                "profile",
            )
        # Without its answer, nobody here knows whether the job was started.
        missing = self.iam.not_allowed(caller, READING, f"{ours}*")
        if missing:
            yield self.found(
                "job-not-permitted",
                missing[0],
                f"{caller} may not read what the head node answers to a request. Ask for "
                f"{' and '.join(missing)} (resource *), or use another profile",
            )
