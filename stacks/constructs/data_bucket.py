"""The bucket of data, logs and models."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

ACCESS_LOG_DAYS = 90
ABORT_UPLOAD_DAYS = 7
OLD_VERSION_DAYS = 90


class DataBucket(Construct):
    """A versioned, encrypted bucket with access logs; both buckets outlive the stack."""

    def __init__(self, scope: Construct, construct_id: str, *, key: kms.IKey) -> None:
        super().__init__(scope, construct_id)
        access_logs = s3.Bucket(
            self,
            "AccessLogs",
            # S3 delivers access logs only to buckets under its own key.
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="expire", expiration=Duration.days(ACCESS_LOG_DAYS))
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key,
            # One call to KMS for many objects instead of one for each picture.
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            versioned=True,
            server_access_logs_bucket=access_logs,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="drop-incomplete-uploads-and-old-versions",
                    abort_incomplete_multipart_upload_after=Duration.days(ABORT_UPLOAD_DAYS),
                    noncurrent_version_expiration=Duration.days(OLD_VERSION_DAYS),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
