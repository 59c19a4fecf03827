"""What a role may do with the file systems, beside mounting them, which takes no role."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam


def may_be_channels(shared: efs.IFileSystem, *, lustre: bool) -> list[iam.PolicyStatement]:
    """Return the statements for jobs whose channels are on EFS, and on FSx if there is one.

    SageMaker looks the file systems up when it takes a job:
    https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol.html
    """
    statements = [
        iam.PolicyStatement(
            actions=[
                "elasticfilesystem:DescribeFileSystems",
                "elasticfilesystem:DescribeMountTargets",
            ],
            resources=[shared.file_system_arn],
        )
    ]
    if lustre:
        statements.append(
            iam.PolicyStatement(
                actions=["fsx:DescribeFileSystems"],
                resources=["*"],  # FSx knows no resource for it.
            )
        )
    return statements


def may_be_root(shared: efs.IFileSystem) -> iam.PolicyStatement:
    """Return the statement for a client that mounts with its role, and is not squashed.

    https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
    """
    return iam.PolicyStatement(
        actions=[
            "elasticfilesystem:ClientMount",
            "elasticfilesystem:ClientRootAccess",
            "elasticfilesystem:ClientWrite",
        ],
        resources=[shared.file_system_arn],
        conditions={"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    )


def may_move_data(lustre_id: str) -> list[iam.PolicyStatement]:
    """Return the statements for copies between the bucket and FSx that FSx itself does.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repository-tasks.html
    """
    own = f"arn:{Aws.PARTITION}:fsx:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    return [
        iam.PolicyStatement(
            actions=["fsx:CreateDataRepositoryTask"],
            # FSx names the tasks.
            resources=[f"{own}:file-system/{lustre_id}", f"{own}:task/*"],
        ),
        iam.PolicyStatement(
            actions=[
                "fsx:DescribeDataRepositoryAssociations",
                "fsx:DescribeDataRepositoryTasks",
                # Tells what is linked by ImportPath.
                "fsx:DescribeFileSystems",
            ],
            resources=["*"],  # FSx knows no resource for its lists.
        ),
    ]
