"""Settings of the bucket in StorageStack, and of the key that encrypts what the stack makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.arns import problems_of_key_arn
from stacks.settings.bucket_name import BUCKET_NAME_ALLOWED, problems_of_bucket_name
from stacks.settings.group import (
    OptionalText,
    SettingsGroup,
    checked_by,
    prefixed,
    refuse,
)

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


def _problems_of_logs(logs: str) -> Iterator[str]:
    if logs not in ("create", "none"):
        yield from problems_of_bucket_name(logs)


def _problems_of_name(name: str | None) -> Iterator[str]:
    if name is not None:
        yield from problems_of_bucket_name(name)


KeyArn = Annotated[OptionalText, AfterValidator(checked_by(problems_of_key_arn))]


class BucketSettings(SettingsGroup):
    """A new bucket, or an existing one by its name."""

    model_config = prefixed("bucket_")

    name: Annotated[OptionalText, AfterValidator(checked_by(_problems_of_name))] = Field(
        default=None, description=f"the name of an existing bucket: {BUCKET_NAME_ALLOWED}"
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

    datasync: bool = Field(default=False, alias="datasync", description="true or false")
    """Whether AWS DataSync gets a role that may copy between the bucket and the file systems."""

    access_logs: Annotated[str, AfterValidator(checked_by(_problems_of_logs))] = Field(
        default="create",
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
