"""The form of the ARNs that settings take, and which partition and region they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator

from stacks.settings.group import OptionalText, checked_by

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
PARTITION = "(aws|aws-cn|aws-us-gov)"
ACCOUNT_ID = "[0-9]{12}"
REGION = "[a-z]{2,4}(-[a-z]+)+-[0-9]"

KEY_ARN = re.compile(rf"arn:{PARTITION}:kms:{REGION}:{ACCOUNT_ID}:key/[A-Za-z0-9-]+")
"""Not an alias: EFS and FSx want the key itself."""

BOUNDARY_ARN = re.compile(rf"arn:{PARTITION}:iam::({ACCOUNT_ID}|aws):policy/[A-Za-z0-9_+=,.@/-]+")

PRINCIPAL_ARN = re.compile(rf"arn:{PARTITION}:iam::{ACCOUNT_ID}:(role|user)/[A-Za-z0-9_+=,.@/-]+")

SECRET_ARN = re.compile(
    rf"arn:{PARTITION}:secretsmanager:{REGION}:{ACCOUNT_ID}:secret:"
    r"[A-Za-z0-9_/+=.@-]+-[A-Za-z0-9]{6}"
)
"""Whole, with the six characters that Secrets Manager adds to the name: a policy that names a
resource without them allows nothing.

https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_iam-permissions.html
"""


def region_of(arn: str) -> str:
    """Return the region that an ARN names; empty for those of IAM."""
    return arn.split(":")[3]


def account_of(arn: str) -> str:
    return arn.split(":")[4]


def partition_of(arn: str) -> str:
    return arn.split(":")[1]


def partition_of_region(region: str) -> str:
    """Return the partition that a region is in."""
    for partition, prefix in (("aws-cn", "cn-"), ("aws-us-gov", "us-gov-")):
        if region.startswith(prefix):
            return partition
    return "aws"


def problems_of_key_arn(arn: str | None) -> Iterator[str]:
    """Yield why a text is not the ARN of a key."""
    yield from _problems(arn, KEY_ARN, "it is not the ARN of a key")


def problems_of_boundary_arn(arn: str | None) -> Iterator[str]:
    """Yield why a text is not the ARN of a policy."""
    yield from _problems(arn, BOUNDARY_ARN, "it is not the ARN of a policy")


def problems_of_principal_arn(arn: str | None) -> Iterator[str]:
    """Yield why a text is not the ARN of a role or a user."""
    if arn and ":assumed-role/" in arn:
        yield "it is a session of a role: name the role itself, arn:aws:iam::…:role/…"
        return
    yield from _problems(arn, PRINCIPAL_ARN, "it is not the ARN of a role or a user of IAM")


def problems_of_secret_arn(arn: str | None) -> Iterator[str]:
    """Yield why a text is not the whole ARN of a secret."""
    yield from _problems(
        arn,
        SECRET_ARN,
        "it is not the whole ARN of a secret: take what aws secretsmanager describe-secret prints, "
        "with the hyphen and the 6 characters at its end",
    )


def _problems(arn: str | None, form: re.Pattern[str], otherwise: str) -> Iterator[str]:
    if arn is None:
        return
    if not form.fullmatch(arn):
        yield otherwise
        return
    region = region_of(arn)
    if region and partition_of(arn) != partition_of_region(region):
        yield f"{region} is in the partition {partition_of_region(region)}, not {partition_of(arn)}"


SecretArn = Annotated[OptionalText, AfterValidator(checked_by(problems_of_secret_arn))]
"""The type of a setting that may name a secret."""
