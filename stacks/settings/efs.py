"""Settings of EFS in StorageStack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from stacks.settings.group import OptionalText, SettingsGroup, prefixed, refuse

# https://docs.aws.amazon.com/efs/latest/ug/API_LifecyclePolicy.html
INFREQUENT_ACCESS_DAYS = (1, 7, 14, 30, 60, 90, 180, 270, 365)

MOST_PROVISIONED_MIBPS = 3414
"""In some regions less: https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html"""

ONLY_FOR_A_NEW_ONE = (
    "throughput_mode",
    "provisioned_mibps",
    "infrequent_access_days",
    "backups",
    "root_access",
)
ONLY_FOR_EXISTING_MOUNT_TARGETS = ("security_group_id", "security_group_rules")


def _none_if_said(value: Any) -> Any:
    return None if value in ("", "none") else value


class EfsSettings(SettingsGroup):
    """A new file system, or an existing one by its id."""

    model_config = prefixed("efs_")

    file_system_id: OptionalText = Field(
        default=None,
        alias="efs_id",
        pattern=r"^fs-([0-9a-f]{8}|[0-9a-f]{17})$",
        description="the id of an existing file system, such as fs-0123456789abcdef0",
    )
    """Without it: a new one. The stack never changes an existing one or its policy."""

    mount_targets: Literal["create", "existing"] = Field(
        default="create", description="create, or existing for an existing file system"
    )
    """Whether an existing file system (efs_id) has its mount targets already.

    AWS takes one a zone, so create wants a file system that has none.
    """

    security_group_id: OptionalText = Field(
        default=None,
        pattern=r"^sg-[0-9a-f]{8,17}$",
        description="the id of a security group, such as sg-0123456789abcdef0",
    )
    """Of the existing mount targets (efs_mount_targets = existing)."""

    security_group_rules: Literal["create", "existing"] = Field(
        default="create", description="create or existing"
    )
    """Whether efs_security_group_id admits training jobs to port 2049 already.

    With existing, no rule is added to a group that the stacks did not make.
    """

    throughput_mode: Literal["elastic", "bursting", "provisioned"] = Field(
        default="elastic", description="elastic, bursting or provisioned"
    )
    """Elastic: paid for what is used, without credits that a long epoch can run out of."""

    provisioned_mibps: int | None = Field(
        default=None,
        ge=1,
        le=MOST_PROVISIONED_MIBPS,
        description=f"1 to {MOST_PROVISIONED_MIBPS}, for efs_throughput_mode = provisioned",
    )
    """MiB/s, paid for at all times."""

    infrequent_access_days: Annotated[int | None, BeforeValidator(_none_if_said)] = Field(
        default=30,
        description="none, or one of " + ", ".join(map(str, INFREQUENT_ACCESS_DAYS)),
    )
    """After so many days without access a file moves to a cheaper class, and back when read."""

    backups: bool = Field(default=True, description="true or false")
    """Daily, by AWS Backup's automatic plan."""

    root_access: Literal["anyone", "iam"] = Field(
        default="anyone",
        description="anyone, or iam for roles that may elasticfilesystem:ClientRootAccess",
    )
    """Who may be root on it, of those who can mount it.

    SageMaker mounts without a role, and its containers run as root: with iam they can write only
    where a client with such a role has let everyone write (docs/architecture.md).
    """

    @field_validator("infrequent_access_days")
    @classmethod
    def _days_are_offered(cls, days: int | None) -> int | None:
        if days is not None and days not in INFREQUENT_ACCESS_DAYS:
            raise ValueError("EFS does not offer it")
        return days

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        if self.file_system_id is None:
            yield from self._problems_of_a_new_one()
        else:
            yield from self._problems_of_an_existing_one()

    def _problems_of_a_new_one(self) -> Iterator[str]:
        if self.mount_targets == "existing":
            yield (
                "efs_mount_targets = existing is for an existing file system: name it with "
                "efs_id, or leave efs_mount_targets out"
            )
        for name in self.given(ONLY_FOR_EXISTING_MOUNT_TARGETS):
            yield (
                f"efs_{name} is for an existing file system: name it with efs_id and set "
                f"efs_mount_targets = existing, or leave efs_{name} out"
            )
        if self.throughput_mode == "provisioned" and self.provisioned_mibps is None:
            yield (
                "efs_throughput_mode = provisioned wants efs_provisioned_mibps: "
                f"set it to 1 to {MOST_PROVISIONED_MIBPS}"
            )
        if self.throughput_mode != "provisioned" and self.provisioned_mibps is not None:
            yield (
                f"efs_provisioned_mibps = {self.provisioned_mibps} does not go with "
                f"efs_throughput_mode = {self.throughput_mode}: leave it out, or take "
                "efs_throughput_mode = provisioned"
            )

    def _problems_of_an_existing_one(self) -> Iterator[str]:
        for name in self.given(ONLY_FOR_A_NEW_ONE):
            yield (
                f"efs_{name} is for a new file system, but efs_id = {self.file_system_id} names "
                f"an existing one, which stays as it is: leave efs_{name} or efs_id out"
            )
        if self.mount_targets == "existing" and self.security_group_id is None:
            yield (
                "efs_mount_targets = existing wants efs_security_group_id, the security group of "
                "the mount targets"
            )
        if self.mount_targets == "create":
            for name in self.given(ONLY_FOR_EXISTING_MOUNT_TARGETS):
                yield (
                    f"efs_{name} does not go with efs_mount_targets = create, which makes a "
                    f"security group too: leave it out, or take efs_mount_targets = existing"
                )
