"""What AWS DataSync may do with the bucket and with EFS."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.data_access import may_use_key_of
from stacks.constructs.file_system_access import may_be_root

DATASYNC = "datasync.amazonaws.com"


class DataSyncRole(Construct):
    """The role that DataSync takes for its locations on S3 and EFS, and for its reports.

    FSx for Lustre is reached by its security group alone.

    Attributes:
        role: Its ARN is what a copy passes to DataSync.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        prefix: str | None,
        shared: efs.IFileSystem,
    ) -> None:
        """Build it.

        Args:
            bucket: Copied from and to.
            prefix: What of it; None is all of it.
            shared: EFS, on which DataSync is root.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description="AWS DataSync, between the training bucket and its file systems",
            assumed_by=_datasync_of_this_account(),
        )
        iam.ManagedPolicy(
            self,
            "Data",
            description="Reads and writes the training bucket and EFS",
            roles=[self.role],
            statements=[*_may_copy(bucket, prefix), may_be_root(shared)],
        )


def _datasync_of_this_account() -> iam.IPrincipal:
    """Return the service, for what it does on behalf of this account alone.

    https://docs.aws.amazon.com/datasync/latest/userguide/cross-service-confused-deputy-prevention.html
    """
    own = f"arn:{Aws.PARTITION}:datasync:{Aws.REGION}:{Aws.ACCOUNT_ID}:*"
    conditions = {
        "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        "ArnLike": {"aws:SourceArn": own},
    }
    return iam.PrincipalWithConditions(iam.ServicePrincipal(DATASYNC), conditions)


def _may_copy(bucket: s3.IBucket, prefix: str | None) -> list[iam.PolicyStatement]:
    """Return what AWS's guide lists for a bucket that is copied from and to.

    https://docs.aws.amazon.com/datasync/latest/userguide/create-s3-location.html#create-s3-location-required-permissions
    Without its s3:DeleteObject: what the source lacks is not deleted by DataSync
    (PreserveDeletedFiles), and objects are written over.
    """
    in_prefix = {"StringLike": {"s3:prefix": [prefix, f"{prefix}/*"]}} if prefix else None
    return [
        iam.PolicyStatement(
            actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=in_prefix
        ),
        iam.PolicyStatement(
            # They know no prefix.
            actions=["s3:GetBucketLocation", "s3:ListBucketMultipartUploads"],
            resources=[bucket.bucket_arn],
        ),
        iam.PolicyStatement(
            actions=[
                "s3:AbortMultipartUpload",
                "s3:GetObject",
                "s3:GetObjectTagging",
                "s3:GetObjectVersion",
                "s3:GetObjectVersionTagging",
                "s3:ListMultipartUploadParts",
                "s3:PutObject",
                "s3:PutObjectTagging",
            ],
            resources=[bucket.arn_for_objects(f"{prefix}/*" if prefix else "*")],
        ),
        *may_use_key_of(bucket),
    ]
