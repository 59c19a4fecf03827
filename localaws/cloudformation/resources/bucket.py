"""AWS::S3::Bucket and AWS::S3::BucketPolicy."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource


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
        _configure(s3, name, {}, properties)
        return cls(
            name,
            Arn=f"arn:aws:s3:::{name}",
            DomainName=f"{name}.s3.amazonaws.com",
            RegionalDomainName=f"{name}.s3.{aws.region}.amazonaws.com",
            DualStackDomainName=f"{name}.s3.dualstack.{aws.region}.amazonaws.com",
            WebsiteURL=f"http://{name}.s3-website-{aws.region}.amazonaws.com",
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _configure(aws.client("s3"), self.physical_resource_id, old, new)

    def delete(self, aws: Aws) -> None:
        aws.client("s3").delete_bucket(Bucket=self.physical_resource_id)


def _configure(s3: Any, bucket: str, old: Properties, new: Properties) -> None:
    """Set what differs; a setting that the template no longer has goes back to S3's default."""
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


def _put_lifecycle(s3: Any, bucket: str, value: Any) -> None:
    rules = [_lifecycle_rule(index, rule) for index, rule in enumerate(value["Rules"])]
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})


def _lifecycle_rule(index: int, rule: Properties) -> dict[str, Any]:
    """Return a rule as S3's API has it, which names and nests a few things differently."""
    result: dict[str, Any] = {
        "ID": rule.get("Id", f"rule-{index}"),
        "Status": rule["Status"],
        "Filter": {"Prefix": rule.get("Prefix", "")},
    }
    if "ExpirationInDays" in rule:
        result["Expiration"] = {"Days": int(rule["ExpirationInDays"])}
    elif "ExpiredObjectDeleteMarker" in rule:
        result["Expiration"] = {"ExpiredObjectDeleteMarker": rule["ExpiredObjectDeleteMarker"]}
    if "NoncurrentVersionExpiration" in rule:
        result["NoncurrentVersionExpiration"] = rule["NoncurrentVersionExpiration"]
    elif "NoncurrentVersionExpirationInDays" in rule:
        days = int(rule["NoncurrentVersionExpirationInDays"])
        result["NoncurrentVersionExpiration"] = {"NoncurrentDays": days}
    if "AbortIncompleteMultipartUpload" in rule:
        result["AbortIncompleteMultipartUpload"] = rule["AbortIncompleteMultipartUpload"]
    if "Transitions" in rule:
        result["Transitions"] = [
            {"StorageClass": item["StorageClass"], "Days": int(item["TransitionInDays"])}
            for item in rule["Transitions"]
        ]
    if "NoncurrentVersionTransitions" in rule:
        result["NoncurrentVersionTransitions"] = [
            {
                "StorageClass": item["StorageClass"],
                "NoncurrentDays": int(item["TransitionInDays"]),
            }
            for item in rule["NoncurrentVersionTransitions"]
        ]
    return result


def _put_logging(s3: Any, bucket: str, value: Any) -> None:
    target = {
        "TargetBucket": value.get("DestinationBucketName", bucket),
        "TargetPrefix": value.get("LogFilePrefix", ""),
    }
    s3.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={"LoggingEnabled": target})


_SETTINGS: dict[str, tuple[Any, Any]] = {
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
        _put_lifecycle,
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

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _put_policy(aws, properties)
        return cls(properties["Bucket"], Bucket=properties["Bucket"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _put_policy(aws, new)

    def delete(self, aws: Aws) -> None:
        aws.client("s3").delete_bucket_policy(Bucket=self.physical_resource_id)


def _put_policy(aws: Aws, properties: Properties) -> None:
    aws.client("s3").put_bucket_policy(
        Bucket=properties["Bucket"], Policy=json.dumps(properties["PolicyDocument"])
    )
