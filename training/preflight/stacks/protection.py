"""The protection of the stacks against deletion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.cloudformation import CloudFormation
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class ProtectionStays(Check):
    """No stack that is protected against deletion loses that."""

    codes: ClassVar[Mapping[str, Severity]] = {"protection-dropped": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:DescribeStacks",)

    cloudformation: CloudFormation
    names: Sequence[str]

    def find(self) -> Iterator[Finding]:
        stacks = {name: self.cloudformation.stack(name) for name in self.names}
        protected = [
            name
            for name, stack in stacks.items()
            if stack and stack.get("EnableTerminationProtection")
        ]
        if protected:
            yield self.found(
                "protection-dropped",
                "termination_protection",
                f"{', '.join(protected)} cannot be deleted by mistake now, and could be after this "
                "deploy. To keep it so: termination_protection=true",
            )
