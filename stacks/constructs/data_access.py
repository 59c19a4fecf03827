"""What a role may do with the data: exact actions, on one bucket and its key.

CDK's grants (`bucket.grant_read_write`, `key.grant_encrypt_decrypt`) end in wildcards such as
`s3:GetObject*` and `kms:ReEncrypt*`, so these statements are written out.
"""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3


def may_read_and_write(bucket: s3.IBucket, prefix: str | None = None) -> list[iam.PolicyStatement]:
    """Return the statements for a bucket's objects and their key; nothing may be deleted.

    Args:
        bucket: It keeps old versions, so that writing over an object loses nothing.
        prefix: Without slashes at its ends; None is the whole bucket.
    """
    in_prefix = {"StringLike": {"s3:prefix": [prefix, f"{prefix}/*"]}} if prefix else None
    statements = [
        iam.PolicyStatement(
            actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=in_prefix
        ),
        # It knows no prefix: with that condition it would never be allowed.
        iam.PolicyStatement(
            actions=["s3:ListBucketMultipartUploads"], resources=[bucket.bucket_arn]
        ),
        iam.PolicyStatement(
            actions=[
                "s3:AbortMultipartUpload",
                "s3:GetObject",
                "s3:ListMultipartUploadParts",
                "s3:PutObject",
            ],
            resources=[bucket.arn_for_objects(f"{prefix}/*" if prefix else "*")],
        ),
    ]
    return [*statements, *may_use_key_of(bucket)]


def may_use_key_of(bucket: s3.IBucket) -> list[iam.PolicyStatement]:
    """Return the statement for objects under the bucket's key, uploads in parts included.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html#mpuAndPermissions
    """
    key = bucket.encryption_key
    if key is None:
        return []
    return [
        iam.PolicyStatement(actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[key.key_arn])
    ]
