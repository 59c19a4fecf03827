"""What whoever pulls or pushes images needs first."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam

from training.outputs import PROJECT_TAG


def may_sign_in() -> iam.PolicyStatement:
    """Return the statement for a token of the registry."""
    return iam.PolicyStatement(
        actions=["ecr:GetAuthorizationToken"],
        resources=["*"],  # A token is good for all that its owner may do.
    )


def may_pull_images_of(project: str) -> iam.PolicyStatement:
    """Return the statement for pulling the images of a project.

    Repositories are found by their tag and not by reference, so that neither stack needs the
    other. https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    """
    return iam.PolicyStatement(
        actions=[
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        resources=[f"arn:{Aws.PARTITION}:ecr:{Aws.REGION}:{Aws.ACCOUNT_ID}:repository/*"],
        conditions={"StringEquals": {f"aws:ResourceTag/{PROJECT_TAG}": project}},
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
