"""What whoever pulls or pushes images needs first."""

from __future__ import annotations

from aws_cdk import aws_iam as iam


def may_sign_in() -> iam.PolicyStatement:
    """Return the statement for a token of the registry."""
    return iam.PolicyStatement(
        actions=["ecr:GetAuthorizationToken"],
        resources=["*"],  # A token is good for all that its owner may do.
    )
