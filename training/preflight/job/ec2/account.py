"""Whose account the job would go to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class AccountIsTheClusters(Check):
    """The credentials are of the cluster's account."""

    codes: ClassVar[Mapping[str, Severity]] = {"account-not-the-clusters": "error"}
    actions: ClassVar[tuple[str, ...]] = ()

    account: str
    cluster_account: str

    def find(self) -> Iterator[Finding]:
        if self.account != self.cluster_account:
            yield self.found(
                "account-not-the-clusters",
                "account",
                f"the credentials are of account {self.account}, and the cluster is in "
                f"{self.cluster_account}: use another profile (AWS_PROFILE), or read the outputs "
                "of the account's own stacks (leave --outputs-file out)",
            )
