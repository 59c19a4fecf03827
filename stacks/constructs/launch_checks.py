"""What the checks before a launch ask AWS, in the name of who launches."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms


def may_check_launches(
    *, roles: Sequence[iam.IRole], key: kms.IKey, shared: efs.IFileSystem
) -> list[iam.PolicyStatement]:
    """Return the statements for `training/preflight/job`; all of it only reads.

    Args:
        roles: Whose own policies are evaluated: the launcher's, and that of jobs.
        key: Of what jobs leave.
        shared: EFS.
    """
    return [
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeInstanceTypeOfferings",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeRouteTables",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcEndpoints",
            ],
            resources=["*"],  # EC2 lists whole accounts: there is no finer resource.
        ),
        iam.PolicyStatement(
            actions=[
                "elasticfilesystem:DescribeFileSystemPolicy",
                "elasticfilesystem:DescribeMountTargetSecurityGroups",
            ],
            resources=[shared.file_system_arn],
        ),
        iam.PolicyStatement(
            actions=["iam:GetRole", "iam:SimulatePrincipalPolicy"],
            resources=[role.role_arn for role in roles],
        ),
        iam.PolicyStatement(actions=["kms:DescribeKey"], resources=[key.key_arn]),
    ]
