"""Settings of the bucket in StorageStack, and of the key that encrypts what the stack makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.group import SettingsGroup, checked_by, none_if_empty, prefixed, refuse

BUCKET_NAME = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""

KEY_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):kms:(?P<region>[a-z0-9-]+):\d{12}:key/[A-Za-z0-9-]+"
)
"""Not an alias: EFS and FSx want the key itself."""

_KEY_ARN_ALLOWED = (
    "the ARN of a KMS key, such as arn:aws:kms:us-west-2:123456789012:key/"
    "12345678-1234-1234-1234-123456789012"
)

ONLY_FOR_A_NEW_ONE = (
    "access_logs",
    "access_log_days",
    "old_version_days",
    "incomplete_upload_days",
)


def _strip_slashes(value: Any) -> Any:
    """Read `/a/b/` as `a/b`, and nothing as absent."""
    return value.strip("/") or None if isinstance(value, str) else value


def _problems_of_key_arn(arn: str | None) -> Iterator[str]:
    if arn is not None and not KEY_ARN.fullmatch(arn):
        yield "it is not the ARN of a key"


def region_of_key(arn: str) -> str:
    """Return the region that a checked ARN names."""
    match = KEY_ARN.fullmatch(arn)
    assert match is not None
    return match["region"]


KeyArn = Annotated[
    str | None, BeforeValidator(none_if_empty), AfterValidator(checked_by(_problems_of_key_arn))
]


class BucketSettings(SettingsGroup):
    """A new bucket, or an existing one by its name."""

    model_config = prefixed("bucket_")

    name: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=rf"^{BUCKET_NAME}$",
        description="the name of an existing bucket: 3 to 63 small letters, digits, hyphens, dots",
    )
    """Without it: a new one. The stack never changes an existing one or its policy."""

    prefix: Annotated[str | None, BeforeValidator(_strip_slashes)] = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$",
        max_length=200,
        description="a folder of the bucket, such as ml-platform or teams/vision",
    )
    """All that is ours lies below it, and FSx mirrors it. Without it: the whole bucket."""

    encryption_key_arn: KeyArn = Field(default=None, description=_KEY_ARN_ALLOWED)
    """Of an existing bucket that is encrypted with a key of its own: roles get to use it."""

    storage_key_arn: KeyArn = Field(
        default=None, alias="encryption_key_arn", description=_KEY_ARN_ALLOWED
    )
    """Encrypts the new bucket and the new file systems. Without it: a new key."""

    access_logs: str = Field(
        default="create",
        pattern=rf"^(create|none|{BUCKET_NAME})$",
        description="create, none, or the name of an existing bucket for logs",
    )
    """Where S3 records who read and wrote the new bucket."""

    access_log_days: int = Field(default=365, ge=1, le=36500, description="1 to 36500")
    """How long the new bucket for access logs keeps them."""

    old_version_days: int = Field(default=90, ge=1, le=36500, description="1 to 36500")
    """How long what was overwritten or deleted can be brought back."""

    incomplete_upload_days: int = Field(default=7, ge=1, le=365, description="1 to 365")
    """After which the parts of an upload that never ended are deleted."""

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        if self.name is None and self.encryption_key_arn is not None:
            yield (
                "bucket_encryption_key_arn is the key of an existing bucket: name that with "
                "bucket_name, or set encryption_key_arn for a new one"
            )
        if self.name is not None:
            for name in self.given(ONLY_FOR_A_NEW_ONE):
                yield (
                    f"bucket_{name} is for a new bucket, but bucket_name = {self.name} names an "
                    f"existing one, which stays as it is: leave bucket_{name} or bucket_name out"
                )
        if self.access_logs != "create" and self.given(["access_log_days"]):
            yield (
                f"bucket_access_log_days does not go with bucket_access_logs = {self.access_logs}: "
                "leave it out, or take bucket_access_logs = create"
            )
