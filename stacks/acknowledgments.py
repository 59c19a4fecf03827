"""What cdk-nag finds and we keep as it is, each with the reason.

There is nothing at present: every stack passes AwsSolutions as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Acknowledgment, App, Validations


@dataclass(frozen=True, kw_only=True)
class AcceptedFinding:
    """One finding of one rule at one construct."""

    path: str
    """Of the construct, as the report prints it: `StorageStack/Data/Bucket/Resource`."""
    rule: str
    """With the finding where a rule has several: `AwsSolutions-IAM5[Resource::*]`."""
    reason: str


ACCEPTED: tuple[AcceptedFinding, ...] = ()


def acknowledge(app: App, accepted: Sequence[AcceptedFinding]) -> None:
    """Tell CDK which findings are accepted; a test tells which of them match nothing any more.

    Raises:
        LookupError: There is no construct at a path.
    """
    if not accepted:
        return
    constructs = {construct.node.path: construct for construct in app.node.find_all()}
    for finding in accepted:
        if finding.path not in constructs:
            raise LookupError(f"stacks/acknowledgments.py: no construct at {finding.path}")
        Validations.of(constructs[finding.path]).acknowledge(
            Acknowledgment(id=finding.rule, reason=finding.reason)
        )
