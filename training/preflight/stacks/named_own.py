"""Settings that name what our own stacks have made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources


@dataclass(frozen=True)
class NothingOfOursIsNamed(Check):
    """What the settings name as existing is not what the stacks made themselves."""

    codes: ClassVar[Mapping[str, Severity]] = {"named-is-our-own": "error"}
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:ListStackResources",)

    stacks: Sequence[OwnResources]
    named: Mapping[str, Sequence[str]]
    """Setting to ids."""

    def find(self) -> Iterator[Finding]:
        for stack in self.stacks:
            own = stack.ids()
            for key, ids in self.named.items():
                ours = [each for each in ids if each in own]
                if ours:
                    yield self.found(
                        "named-is-our-own",
                        key,
                        f"{key} names {', '.join(ours)}, which {stack.stack} made. Named, it is no "
                        "longer the stack's to make, and the deploy deletes it or leaves it to "
                        f"itself. Leave {key} out: the stacks use it anyway",
                    )
