"""Whether all that the settings name is in one region, partition and account."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.settings import Settings
from tests.stacks.matrix import EXISTING_VPC
from training.errors import UsageError

ACCOUNT = "123456789012"
GIT = {"notebook_git_repository": "https://git.example.org/a/b.git"}


def key(region: str, partition: str = "aws") -> str:
    return f"arn:{partition}:kms:{region}:{ACCOUNT}:key/12345678"


def secret(region: str, partition: str = "aws") -> str:
    return f"arn:{partition}:secretsmanager:{region}:{ACCOUNT}:secret:git-AbCdEf"


def boundary(partition: str, account: str = ACCOUNT) -> str:
    return f"arn:{partition}:iam::{account}:policy/boundary"


ZONES = {"availability_zones": "eu-west-1a,eu-west-1b,eu-west-1c"}


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            {**ZONES, "encryption_key_arn": key("us-west-2")},
            f"context: encryption_key_arn = {key('us-west-2')} is a key of another region than "
            "availability_zones, which is in eu-west-1: a key encrypts only in its own region",
        ),
        (
            {**EXISTING_VPC, "encryption_key_arn": key("eu-west-1")},
            f"context: encryption_key_arn = {key('eu-west-1')} is a key of another region than "
            "private_subnets, which is in us-west-2: ",
        ),
        (
            {**EXISTING_VPC, **GIT, "notebook_git_secret_arn": secret("eu-west-1")},
            f"context: notebook_git_secret_arn = {secret('eu-west-1')} is of another region than "
            "private_subnets, which is in us-west-2: make the secret there too",
        ),
        (
            {
                **GIT,
                "encryption_key_arn": key("us-west-2"),
                "notebook_git_secret_arn": secret("eu-west-1"),
            },
            f"context: notebook_git_secret_arn = {secret('eu-west-1')} is of another region than "
            f"encryption_key_arn = {key('us-west-2')}: make",
        ),
        (
            {
                "bucket_name": "my-bucket",
                "encryption_key_arn": key("us-west-2"),
                "bucket_encryption_key_arn": key("us-east-1"),
            },
            f"context: bucket_encryption_key_arn = {key('us-east-1')} is a key of another region",
        ),
        (
            {"aws_region": "us-west-2", "permissions_boundary": boundary("aws-cn")},
            f"context: permissions_boundary = {boundary('aws-cn')} is of the partition aws-cn, and "
            "aws_region = us-west-2 of aws: name a policy there",
        ),
        (
            {**ZONES, "permissions_boundary": boundary("aws-us-gov")},
            f"context: permissions_boundary = {boundary('aws-us-gov')} is of the partition",
        ),
        (
            {
                "aws_account": ACCOUNT,
                "aws_region": "us-west-2",
                "permissions_boundary": boundary("aws", "210987654321"),
            },
            "context: permissions_boundary = arn:aws:iam::210987654321:policy/boundary is of "
            f"another account than aws_account = {ACCOUNT}: ",
        ),
        (
            {"encryption_key_arn": key("us-west-2", "aws-cn")},
            f"context key encryption_key_arn = '{key('us-west-2', 'aws-cn')}': us-west-2 is in the "
            "partition aws, not aws-cn; allowed",
        ),
        (
            {"encryption_key_arn": key("us-west-2", "awsnonsense-")},
            "context key encryption_key_arn = ",
        ),
        (
            {**GIT, "notebook_git_secret_arn": secret("cn-north-1")},
            f"context key notebook_git_secret_arn = '{secret('cn-north-1')}': cn-north-1 is in the "
            "partition aws-cn, not aws; allowed",
        ),
        (
            {"permissions_boundary": boundary("aws", "\u0661" * 12)},
            "context key permissions_boundary = ",
        ),
        (
            {"efs_id": "fs-01234567", "fsx_id": "fs-01234567", "fsx_mount_name": "a",
             "fsx_security_group_id": "sg-01234567"},
            "context: efs_id and fsx_id are both fs-01234567, which is a file system of one kind",
        ),
    ],
)  # fmt: skip
def test_what_is_elsewhere_is_told(context: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    "context",
    [
        {"permissions_boundary": boundary("aws-cn")},
        {"aws_region": "us-gov-west-1", "permissions_boundary": boundary("aws-us-gov"),
         "fsx": "none", "encryption_key_arn": key("us-gov-west-1", "aws-us-gov")},
        {"aws_account": ACCOUNT, "aws_region": "us-west-2",
         "permissions_boundary": boundary("aws", "aws")},
        {**EXISTING_VPC, **GIT, "encryption_key_arn": key("us-west-2"),
         "notebook_git_secret_arn": secret("us-west-2")},
    ],
)  # fmt: skip
def test_what_is_in_one_place_is_taken(context: dict[str, Any]) -> None:
    Settings.from_context(context)
