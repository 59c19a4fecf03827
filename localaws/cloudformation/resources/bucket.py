"""AWS::S3::Bucket and AWS::S3::BucketPolicy."""

from __future__ import annotations

import json
from typing import Any, Self

from botocore.exceptions import ClientError

from localaws.cloudformation.aws import Aws, is_gone
from localaws.cloudformation.resource import Properties, Resource, only
from localaws.cloudformation.resources import bucket_lifecycle


class Bucket(Resource):
    """A bucket with its settings."""

    TYPE = "AWS::S3::Bucket"
    NAME_PROPERTY = "BucketName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        s3 = aws.client("s3")
        # us-east-1 is S3's default and may not be named.
        where = (
            {}
            if aws.region == "us-east-1"
            else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
        )
        s3.create_bucket(Bucket=name, **where)
        return cls(
            name,
            Arn=f"arn:{aws.partition}:s3:::{name}",
            DomainName=f"{name}.s3.{aws.url_suffix}",
            RegionalDomainName=f"{name}.s3.{aws.region}.{aws.url_suffix}",
            DualStackDomainName=f"{name}.s3.dualstack.{aws.region}.{aws.url_suffix}",
            WebsiteURL=f"http://{name}.s3-website-{aws.region}.{aws.url_suffix}",
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        self.update(aws, {}, properties)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _configure(aws.client("s3"), self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        s3, name = aws.client("s3"), self.physical_resource_id
        return {
            "VersioningConfiguration": only(s3.get_bucket_versioning(Bucket=name), ("Status",)),
            "PublicAccessBlockConfiguration": _ask(
                s3.get_public_access_block, name, "PublicAccessBlockConfiguration", {}
            ),
            "OwnershipControls": _ask(
                s3.get_bucket_ownership_controls, name, "OwnershipControls", {}
            ),
            "Tags": _ask(s3.get_bucket_tagging, name, "TagSet", []),
        }

    def delete(self, aws: Aws) -> None:
        aws.client("s3").delete_bucket(Bucket=self.physical_resource_id)


def _configure(s3: Any, bucket: str, old: Properties, new: Properties) -> None:
    """Set what differs; a setting that the template no longer has goes back to S3's default.

    Raises:
        ValueError: The template has a setting that is not known here.
    """
    if unknown := new.keys() - _SETTINGS.keys() - {Bucket.NAME_PROPERTY}:
        raise ValueError(f"local AWS has no {', '.join(sorted(unknown))} of a bucket")
    for name, (put, delete) in _SETTINGS.items():
        if old.get(name) == new.get(name):
            continue
        if name in new:
            put(s3, bucket, new[name])
        else:
            delete(s3, bucket)


def _put_encryption(s3: Any, bucket: str, value: Any) -> None:
    rules = [
        {
            "ApplyServerSideEncryptionByDefault": _encryption_default(
                rule.get("ServerSideEncryptionByDefault", {})
            ),
            "BucketKeyEnabled": rule.get("BucketKeyEnabled", False),
        }
        for rule in value["ServerSideEncryptionConfiguration"]
    ]
    s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules})


def _encryption_default(value: dict[str, str]) -> dict[str, str]:
    result = {"SSEAlgorithm": value["SSEAlgorithm"]}
    if "KMSMasterKeyID" in value:
        result["KMSMasterKeyID"] = value["KMSMasterKeyID"]
    return result


def _put_logging(s3: Any, bucket: str, value: Any) -> None:
    target = {
        "TargetBucket": value.get("DestinationBucketName", bucket),
        "TargetPrefix": value.get("LogFilePrefix", ""),
    }
    s3.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={"LoggingEnabled": target})


_ACLS = {
    "Private": "private",
    "PublicRead": "public-read",
    "PublicReadWrite": "public-read-write",
    "AuthenticatedRead": "authenticated-read",
    "LogDeliveryWrite": "log-delivery-write",
    "BucketOwnerRead": "bucket-owner-read",
    "BucketOwnerFullControl": "bucket-owner-full-control",
    "AwsExecRead": "aws-exec-read",
}


def _ask(operation: Any, bucket: str, name: str, default: Any) -> Any:
    """Return a setting of a bucket; S3 answers with an error where it has none."""
    try:
        return operation(Bucket=bucket)[name]
    except ClientError as error:
        if is_gone(error):
            return default
        raise


_SETTINGS: dict[str, tuple[Any, Any]] = {
    "AccessControl": (
        lambda s3, bucket, value: s3.put_bucket_acl(Bucket=bucket, ACL=_ACLS[value]),
        lambda s3, bucket: s3.put_bucket_acl(Bucket=bucket, ACL="private"),
    ),
    "Tags": (
        lambda s3, bucket, value: s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": value}),
        lambda s3, bucket: s3.delete_bucket_tagging(Bucket=bucket),
    ),
    "VersioningConfiguration": (
        lambda s3, bucket, value: s3.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration=value
        ),
        lambda s3, bucket: s3.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": "Suspended"}
        ),
    ),
    "BucketEncryption": (
        _put_encryption,
        lambda s3, bucket: s3.delete_bucket_encryption(Bucket=bucket),
    ),
    "PublicAccessBlockConfiguration": (
        lambda s3, bucket, value: s3.put_public_access_block(
            Bucket=bucket, PublicAccessBlockConfiguration=value
        ),
        lambda s3, bucket: s3.delete_public_access_block(Bucket=bucket),
    ),
    "OwnershipControls": (
        lambda s3, bucket, value: s3.put_bucket_ownership_controls(
            Bucket=bucket, OwnershipControls=value
        ),
        lambda s3, bucket: s3.delete_bucket_ownership_controls(Bucket=bucket),
    ),
    "LifecycleConfiguration": (
        bucket_lifecycle.put,
        lambda s3, bucket: s3.delete_bucket_lifecycle(Bucket=bucket),
    ),
    "LoggingConfiguration": (
        _put_logging,
        lambda s3, bucket: s3.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={}),
    ),
}


class BucketPolicy(Resource):
    """Who may do what with a bucket."""

    TYPE = "AWS::S3::BucketPolicy"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _put_policy(aws, properties)
        return cls(properties["Bucket"], Bucket=properties["Bucket"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _put_policy(aws, new)

    def read(self, aws: Aws) -> Properties:
        policy = aws.client("s3").get_bucket_policy(Bucket=self.physical_resource_id)["Policy"]
        return {"Bucket": self.physical_resource_id, "PolicyDocument": json.loads(policy)}

    def delete(self, aws: Aws) -> None:
        aws.client("s3").delete_bucket_policy(Bucket=self.physical_resource_id)


def _put_policy(aws: Aws, properties: Properties) -> None:
    aws.client("s3").put_bucket_policy(
        Bucket=properties["Bucket"], Policy=json.dumps(properties["PolicyDocument"])
    )
