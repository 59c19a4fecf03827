"""Whether CloudFormation can deploy over what earlier deploys left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.cloudformation import CloudFormation
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

_REMADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")
"""States of a stack that was never made: `cdk deploy` deletes it and makes it again."""

_PAUSED = ("CREATE_FAILED", "UPDATE_FAILED")
"""States that `cdk deploy --no-rollback` leaves."""


@dataclass(frozen=True)
class StacksCanBeDeployed(Check):
    """No stack is in the middle of something, or broken."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "stack-busy": "error",
        "stack-broken": "error",
        "stack-protected": "error",
        "stack-made-again": "info",
    }
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:DescribeStacks",)

    cloudformation: CloudFormation
    names: Sequence[str]

    def find(self) -> Iterator[Finding]:
        for name in self.names:
            stack = self.cloudformation.stack(name)
            if stack is not None:
                protected = stack.get("EnableTerminationProtection", False)
                yield from self._judge(name, stack["StackStatus"], protected)

    def _judge(self, name: str, status: str, protected: bool) -> Iterator[Finding]:
        if status.endswith("_IN_PROGRESS"):
            yield self.found(
                "stack-busy",
                name,
                f"{name} is {status}: CloudFormation works on it. Wait until it is done; its "
                f"events say how far it is (aws cloudformation describe-stack-events --stack-name "
                f"{name})",
            )
        elif status in _REMADE and protected:
            yield self.found(
                "stack-protected",
                name,
                f"{name} is {status} and must be deleted first, but is protected against it. Run: "
                f"aws cloudformation update-termination-protection --stack-name {name} "
                f"--no-enable-termination-protection, and then cdk destroy {name}",
            )
        elif status in _REMADE:
            yield self.found(
                "stack-made-again",
                name,
                f"{name} is {status}: its first deploy failed. cdk deploy deletes what is left of "
                "it and begins anew; of what it made, only the bucket for access logs stays",
            )
        elif status == "UPDATE_ROLLBACK_FAILED":
            yield self.found(
                "stack-broken",
                name,
                f"{name} is {status}: an update failed and so did taking it back. Remove the "
                f"reason that its events name, then run: cdk rollback {name}",
            )
        elif status in _PAUSED:
            yield self.found(
                "stack-broken",
                name,
                f"{name} is {status}: a deploy stopped half-way. Run: cdk rollback {name}",
            )
        elif status == "DELETE_FAILED":
            yield self.found(
                "stack-broken",
                name,
                f"{name} is {status}: something of it could not be deleted; its events say what. "
                f"Remove what holds it, then run: cdk destroy {name}",
            )
