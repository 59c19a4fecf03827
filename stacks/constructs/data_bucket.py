"""The bucket of data, logs and models."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

_LOGS_ID = "AccessLogs"
# Stays after a first deploy that fails too: S3 may have written to it by then, and CloudFormation
# deletes no bucket that is not empty, so that the rollback would fail as well.
_LOGS_REMOVAL = RemovalPolicy.RETAIN


@dataclass(frozen=True, kw_only=True)
class BucketOptions:
    """How long what is kept, in days, and where access is recorded."""

    access_logs: str
    """`create` makes a bucket for them, `none` leaves them out; else the name of a bucket."""
    access_log_days: int
    """In the bucket that is made for them."""
    old_version_days: int
    incomplete_upload_days: int


class DataBucket(Construct):
    """A versioned, encrypted bucket with access logs; both outlive the stack, with their policies.

    A bucket without its policy would take requests without TLS, and no more access logs.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, key: kms.IKey, options: BucketOptions
    ) -> None:
        super().__init__(scope, construct_id)
        self.bucket: s3.IBucket = s3.Bucket(
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
            server_access_logs_bucket=self._access_logs(options),
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="drop-incomplete-uploads-and-old-versions",
                    abort_incomplete_multipart_upload_after=Duration.days(
                        options.incomplete_upload_days
                    ),
                    noncurrent_version_expiration=Duration.days(options.old_version_days),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        for policy in self.node.find_all():
            if isinstance(policy, s3.BucketPolicy):
                is_of_logs = policy.bucket.node.id == _LOGS_ID
                policy.apply_removal_policy(
                    _LOGS_REMOVAL if is_of_logs else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
                )
        if options.access_logs == "none":
            self._accept_no_access_logs()

    def _access_logs(self, options: BucketOptions) -> s3.IBucket | None:
        if options.access_logs == "none":
            return None
        if options.access_logs != "create":
            return s3.Bucket.from_bucket_name(self, "ExistingAccessLogs", options.access_logs)
        return s3.Bucket(
            self,
            _LOGS_ID,
            # S3 delivers access logs only to buckets under its own key.
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="expire", expiration=Duration.days(options.access_log_days))
            ],
            removal_policy=_LOGS_REMOVAL,
        )

    def _accept_no_access_logs(self) -> None:
        """Accept what cdk-nag says of a bucket without access logs: it was asked for.

        Here and not in stacks/acknowledgments.py, so that it holds for no other bucket.
        """
        reason = "The user asked for no access logs (bucket_access_logs = none)."
        for rule in ("AwsSolutions-S1", "NIST.800.53.R5-S3BucketLoggingEnabled"):
            Validations.of(self.bucket).acknowledge(Acknowledgment(id=rule, reason=reason))
