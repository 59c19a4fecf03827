"""What whoever pulls or pushes images needs first."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam


def may_sign_in() -> iam.PolicyStatement:
    """Return the statement for a token of the registry."""
    return iam.PolicyStatement(
        actions=["ecr:GetAuthorizationToken"],
        resources=["*"],  # A token is good for all that its owner may do.
    )


def may_push(repositories: Sequence[ecr.IRepository]) -> iam.PolicyStatement:
    """Return the statement for looking into repositories, pulling and pushing.

    `repository.grant_pull_push` writes its statements into a role's inline policy.
    """
    return iam.PolicyStatement(
        actions=[
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:CompleteLayerUpload",
            "ecr:DescribeImages",
            "ecr:GetDownloadUrlForLayer",
            "ecr:InitiateLayerUpload",
            "ecr:PutImage",
            "ecr:UploadLayerPart",
        ],
        resources=[repository.repository_arn for repository in repositories],
    )
