"""The bucket that exists already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.s3 import S3
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "bucket_name"


@dataclass(frozen=True)
class BucketIsFit(Check):
    """The bucket is there, in this region and account, and guarded as a new one would be."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "bucket-missing": "error",
        "bucket-forbidden": "error",
        "bucket-of-another-account": "error",
        "bucket-in-another-region": "error",
        "bucket-key-differs": "error",
        "bucket-not-versioned": "warning",
        "bucket-not-encrypted-with-kms": "warning",
        "bucket-not-blocked": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "s3:GetBucketPublicAccessBlock",
        "s3:GetBucketVersioning",
        "s3:GetEncryptionConfiguration",
        "s3:ListBucket",
    )

    s3: S3
    bucket: str
    account: str
    region: str
    key_arn: str | None
    """The setting `bucket_encryption_key_arn`."""

    def find(self) -> Iterator[Finding]:
        problem = self._whereabouts()
        if problem:
            yield problem
            return
        yield from self._judge_encryption()
        if not self.s3.is_versioned(self.bucket):
            yield self.found(
                "bucket-not-versioned",
                KEY,
                f"bucket_name: {self.bucket} keeps no old versions: what a job overwrites or "
                "deletes is gone. Switch it on: aws s3api put-bucket-versioning --bucket "
                f"{self.bucket} --versioning-configuration Status=Enabled",
            )
        if not self.s3.blocks_public_access(self.bucket):
            yield self.found(
                "bucket-not-blocked",
                KEY,
                f"bucket_name: {self.bucket} does not block all public access, so that one wrong "
                "policy can open it to the world. Block it (aws s3api put-public-access-block)",
            )

    def _whereabouts(self) -> Finding | None:
        """Return why nothing else can be asked of the bucket, if so."""
        try:
            region = self.s3.region(self.bucket)
            if region == self.region:
                return self._judge_owner()
        except AwsRefused as error:
            return self._judge_refusal(error)
        return self.found(
            "bucket-in-another-region",
            KEY,
            f"bucket_name: {self.bucket} is in {region}, but the stacks go to {self.region}. FSx "
            "and SageMaker want it in their own region: name a bucket there, or set aws_region="
            f"{region}",
        )

    def _judge_owner(self) -> Finding | None:
        try:
            self.s3.region(self.bucket, owner=self.account)
        except AwsRefused as error:
            if error.code != "403":
                raise
            return self.found(
                "bucket-of-another-account",
                KEY,
                f"bucket_name: {self.bucket} does not belong to account {self.account}. Name a "
                "bucket of this account, or leave it out and one is made",
            )
        return None

    def _judge_refusal(self, error: AwsRefused) -> Finding:
        if error.code == "404":
            return self.found(
                "bucket-missing",
                KEY,
                f"bucket_name: there is no bucket {self.bucket}. Correct the name (aws s3 ls shows "
                "them), or leave it out and one is made",
            )
        if error.code == "403":
            return self.found(
                "bucket-forbidden",
                KEY,
                f"bucket_name: {self.bucket} does not let you in: it is another account's, or you "
                "lack s3:ListBucket on it. Name a bucket of yours, or ask for the permission",
            )
        raise error

    def _judge_encryption(self) -> Iterator[Finding]:
        used = self.s3.encryption_key(self.bucket)
        if used is None and self.key_arn is None:
            yield self.found(
                "bucket-not-encrypted-with-kms",
                KEY,
                f"bucket_name: {self.bucket} is encrypted with S3's own key and not with one of "
                "KMS, whose use is recorded and can be stopped. Change its default encryption if "
                "it has to be",
            )
        elif used is None or (self.key_arn and used.startswith("arn:") and used != self.key_arn):
            yield self.found(
                "bucket-key-differs",
                "bucket_encryption_key_arn",
                f"bucket_encryption_key_arn is {self.key_arn}, but {self.bucket} is encrypted with "
                f"{used or 'a key of S3 itself'}. Set it to that, or leave it out",
            )
        elif self.key_arn is None and not used.endswith("alias/aws/s3"):
            yield self.found(
                "bucket-key-differs",
                "bucket_encryption_key_arn",
                f"{self.bucket} is encrypted with {used}, which no role could use: set "
                "bucket_encryption_key_arn to the ARN of that key",
            )


@dataclass(frozen=True)
class LogBucketIsThere(Check):
    """The bucket that is to take the access logs is where S3 writes them: beside the other."""

    codes: ClassVar[Mapping[str, Severity]] = {"log-bucket-unfit": "error"}
    actions: ClassVar[tuple[str, ...]] = ("s3:GetEncryptionConfiguration", "s3:ListBucket")

    s3: S3
    bucket: str
    account: str
    region: str

    def find(self) -> Iterator[Finding]:
        reason = self._reason()
        if reason:
            yield self.found(
                "log-bucket-unfit",
                "bucket_access_logs",
                f"bucket_access_logs: {self.bucket} {reason}. S3 writes logs to a bucket of the "
                "same account and region that is encrypted with S3's own key: name one, or set "
                "bucket_access_logs=create",
            )

    def _reason(self) -> str | None:
        try:
            region = self.s3.region(self.bucket, owner=self.account)
        except AwsRefused as error:
            if error.code == "404":
                return "is not there"
            if error.code == "403":
                return f"does not belong to account {self.account}, or does not let you in"
            raise
        if region != self.region:
            return f"is in {region}, not in {self.region}"
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/troubleshooting-server-access-logging.html
        return "is encrypted with KMS" if self.s3.encryption_key(self.bucket) else None
