"""Buckets, as S3 describes them."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused, translated
from training.aws.policy import Policy
from training.aws.request import ask


class S3:
    """Amazon S3."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def region(self, bucket: str, *, owner: str | None = None) -> str:
        """Return where a bucket is.

        Args:
            bucket: Its name.
            owner: The account that it must belong to.

        Raises:
            AwsRefused: With code 404 where there is no such bucket; 403 where it is another
                account's than `owner`, or this identity may not list it.
        """
        request = {"Bucket": bucket} | ({"ExpectedBucketOwner": owner} if owner else {})
        try:
            answer = ask(self._client, "head_bucket", **request)
        except AwsRefused as error:
            if error.code == "301" and (elsewhere := _region_of_redirect(error)):
                return elsewhere
            raise
        found: str = answer.get("BucketRegion") or self._client.meta.region_name
        return found

    def has_objects(self, bucket: str, prefix: str) -> bool:
        """Return whether a bucket has an object whose key begins with a prefix."""
        answer = ask(self._client, "list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=1)
        return bool(answer.get("KeyCount"))

    def has_object(self, bucket: str, key: str) -> bool:
        """Return whether a bucket has an object of this key."""
        answer = ask(self._client, "list_objects_v2", Bucket=bucket, Prefix=key, MaxKeys=1)
        # Keys come in the order of their bytes, so that the shortest with a prefix is the first.
        return any(found["Key"] == key for found in answer.get("Contents", []))

    def first_keys(self, bucket: str, prefix: str) -> list[str]:
        """Return the keys that begin with a prefix, the first 1000 of them."""
        answer = ask(self._client, "list_objects_v2", Bucket=bucket, Prefix=prefix)
        return [found["Key"] for found in answer.get("Contents", [])]

    def read(self, bucket: str, key: str, *, last_bytes: int | None = None) -> bytes | None:
        """Return an object's content; None where there is no such object, or bucket.

        Args:
            last_bytes: Of its end alone, or all of a smaller one.
        """
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        part = {} if last_bytes is None else {"Range": f"bytes=-{last_bytes}"}
        try:
            answer = ask(self._client, "get_object", Bucket=bucket, Key=key, **part)
        except AwsRefused as error:
            if error.code == "InvalidRange":  # The object is empty.
                return b""
            if error.code in ("NoSuchKey", "NoSuchBucket"):
                return None
            raise
        with translated():
            content: bytes = answer["Body"].read()
        return content

    def write(self, bucket: str, key: str, content: bytes) -> str:
        """Write an object into a versioned bucket; return its version."""
        answer = ask(
            self._client,
            "put_object",
            Bucket=bucket,
            Key=key,
            Body=content,
            ChecksumAlgorithm="SHA256",
        )
        return str(answer["VersionId"])

    def is_versioned(self, bucket: str) -> bool:
        """Return whether a bucket keeps old versions."""
        return ask(self._client, "get_bucket_versioning", Bucket=bucket).get("Status") == "Enabled"

    def encryption_key(self, bucket: str) -> str | None:
        """Return the KMS key of a bucket's default encryption; None where S3's own key is used."""
        answer = self._optional(
            "get_bucket_encryption", bucket, "ServerSideEncryptionConfigurationNotFoundError"
        )
        rules = (answer or {}).get("ServerSideEncryptionConfiguration", {}).get("Rules", [])
        for rule in rules:
            default = rule.get("ApplyServerSideEncryptionByDefault", {})
            if default.get("SSEAlgorithm", "").startswith("aws:kms"):
                return str(default.get("KMSMasterKeyID") or "alias/aws/s3")
        return None

    def blocks_public_access(self, bucket: str) -> bool:
        """Return whether all four ways to public access are blocked."""
        answer = self._optional(
            "get_public_access_block", bucket, "NoSuchPublicAccessBlockConfiguration"
        )
        blocks = (answer or {}).get("PublicAccessBlockConfiguration", {})
        return len(blocks) == 4 and all(blocks.values())

    def policy(self, bucket: str) -> Policy | None:
        """Return a bucket's policy; None where it has none, or there is no such bucket."""
        answer = self._optional("get_bucket_policy", bucket, "NoSuchBucketPolicy", "NoSuchBucket")
        return Policy.parse(answer["Policy"]) if answer else None

    def _optional(self, method: str, bucket: str, *absent: str) -> dict[str, Any] | None:
        try:
            return ask(self._client, method, Bucket=bucket)
        except AwsRefused as error:
            if error.code in absent:
                return None
            raise


def _region_of_redirect(error: AwsRefused) -> str | None:
    """Return what the answer's header says, which botocore follows where it can."""
    response = getattr(error.__cause__, "response", {})
    headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = headers.get("x-amz-bucket-region")
    return str(region) if region else None
