"""Which settings of the bucket and of the key are accepted, and how a mistake is told."""

from __future__ import annotations

import pytest

from stacks.settings import Settings
from stacks.settings.bucket import BucketSettings
from training.errors import UsageError

KEY = "arn:aws:kms:us-west-2:123456789012:key/12345678-1234-1234-1234-123456789012"
KEY_ALLOWED = (
    "the ARN of a KMS key, such as arn:aws:kms:us-west-2:123456789012:key/"
    "12345678-1234-1234-1234-123456789012"
)


def read(**context: str) -> BucketSettings:
    return Settings.from_context(context).bucket


def test_by_default_a_new_bucket_with_a_new_key_and_logs_of_a_year() -> None:
    settings = read()
    assert (settings.name, settings.prefix, settings.storage_key_arn) == (None, None, None)
    assert (settings.access_logs, settings.access_log_days) == ("create", 365)
    assert (settings.old_version_days, settings.incomplete_upload_days) == (90, 7)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("ml-platform", "ml-platform"),
        ("/ml-platform/", "ml-platform"),
        ("mask-rcnn/sagemaker", "mask-rcnn/sagemaker"),
        ("", None),
        ("/", None),
    ],
)
def test_a_prefix_is_a_folder_with_or_without_slashes_around(text: str, prefix: str | None) -> None:
    assert read(bucket_prefix=text).prefix == prefix


@pytest.mark.parametrize(
    ("partition", "region"),
    [("aws", "us-west-2"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")],
)
def test_keys_of_every_partition_are_taken(partition: str, region: str) -> None:
    arn = KEY.replace("arn:aws:", f"arn:{partition}:").replace("us-west-2", region)
    assert read(encryption_key_arn=arn).storage_key_arn == arn


@pytest.mark.parametrize("logs", ["create", "none", "my-logs"])
def test_access_logs_are_made_left_out_or_sent_to_a_bucket(logs: str) -> None:
    assert read(bucket_access_logs=logs).access_logs == logs


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {"bucket_name": "My_Bucket"},
            "context key bucket_name = 'My_Bucket': no bucket is called so; allowed is the name of "
            "an existing bucket: 3 to 63 small letters, digits, hyphens, dots",
        ),
        (
            {"bucket_name": "s3://my-bucket"},
            "context key bucket_name = 's3://my-bucket': no bucket is called so; allowed is the "
            "name of an existing bucket: 3 to 63 small letters, digits, hyphens, dots",
        ),
        (
            {"bucket_prefix": "a//b"},
            "context key bucket_prefix = 'a//b': allowed is a folder of the bucket, such as "
            "ml-platform or teams/vision",
        ),
        (
            {"bucket_prefix": "../b"},
            "context key bucket_prefix = '../b': allowed is a folder of the bucket, such as "
            "ml-platform or teams/vision",
        ),
        (
            {"bucket_old_version_days": "0"},
            "context key bucket_old_version_days = '0': allowed is 1 to 36500",
        ),
        (
            {"encryption_key_arn": "alias/mine"},
            "context key encryption_key_arn = 'alias/mine': it is not the ARN of a key; allowed is "
            f"{KEY_ALLOWED}",
        ),
        (
            {"bucket_encryption_key_arn": KEY},
            "context: bucket_encryption_key_arn is the key of an existing bucket: name that with "
            "bucket_name, or set encryption_key_arn for a new one",
        ),
        (
            {"bucket_name": "my-bucket", "bucket_access_logs": "none"},
            "context: bucket_access_logs is for a new bucket, but bucket_name = my-bucket names "
            "an existing one, which stays as it is: leave bucket_access_logs or bucket_name out",
        ),
        (
            {"bucket_access_logs": "none", "bucket_access_log_days": "30"},
            "context: bucket_access_log_days does not go with bucket_access_logs = none: leave it "
            "out, or take bucket_access_logs = create",
        ),
        (
            {"aws_region": "us-east-1", "encryption_key_arn": KEY},
            f"context: encryption_key_arn = {KEY} is a key of another region than aws_region = "
            "us-east-1: a key encrypts only in its own region, so name one there, or set "
            "aws_region to it",
        ),
        (
            {"aws_region": "us-east-1", "bucket_name": "b-1", "bucket_encryption_key_arn": KEY},
            f"context: bucket_encryption_key_arn = {KEY} is a key of another region than "
            "aws_region = us-east-1: a key encrypts only in its own region, so name one there, or "
            "set aws_region to it",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(context: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert str(error.value) == message
