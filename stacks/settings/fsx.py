"""Settings of FSx for Lustre in StorageStack."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from stacks.settings.fsx_regions import Deployment, LustreVersion
from stacks.settings.fsx_rules import (
    EVENTS,
    THROUGHPUTS_MBPS_PER_TIB,
    Event,
    problems_of_fsx,
)
from stacks.settings.group import (
    CommaSeparated,
    OptionalText,
    SettingsGroup,
    prefixed,
    refuse,
)

METADATA_IOPS = (1500, 3000, 6000, *range(12000, 192001, 12000))

DEFAULT_DATA_PATH = "/data"
"""The folder that a new association links; an existing file system is taken from its root."""


LONGEST_DATA_PATH = 1024
"""SageMaker takes 4,096, but the notebook's start script, which names it too, 16,384 in base64."""

MOST_CAPACITY_GIB = 2_147_483_647
"""What the API can say; how much an account may have is a quota, which preflight asks for.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
"""


def _in_order(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(each for each in EVENTS if each in events)


def _nothing_if_none(value: Any) -> Any:
    return () if value == "none" else value


Events = Annotated[
    tuple[Event, ...], CommaSeparated, BeforeValidator(_nothing_if_none), AfterValidator(_in_order)
]


class FsxSettings(SettingsGroup):
    """The file system, and how it mirrors the bucket."""

    model_config = prefixed("fsx_")

    wanted: Literal["create", "none"] = Field(
        default="create", alias="fsx", description="create or none"
    )
    """With none there is no FSx for Lustre at all, whatever the other keys say."""

    file_system_id: OptionalText = Field(
        default=None,
        alias="fsx_id",
        pattern=r"^fs-([0-9a-f]{8}|[0-9a-f]{17})$",
        description="the id of an existing file system, such as fs-0123456789abcdef0",
    )
    """Without it: a new one. The stack never changes an existing one."""

    mount_name: OptionalText = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,8}$",
        description="the mount name of the existing file system, 1 to 8 letters and digits",
    )
    """FSx gives it: `aws fsx describe-file-systems` and the console's Attach show it."""

    security_group_id: OptionalText = Field(
        default=None,
        pattern=r"^sg-[0-9a-f]{8,17}$",
        description="the id of a security group, such as sg-0123456789abcdef0",
    )
    """Of the existing file system."""

    security_group_rules: Literal["create", "existing"] = Field(
        default="create", description="create or existing"
    )
    """Whether fsx_security_group_id and training jobs admit each other to Lustre's ports already.

    With existing, no rule is added to a group that the stacks did not make.
    """

    deployment: Deployment = Field(
        default="PERSISTENT_2", description="PERSISTENT_2, PERSISTENT_1 or SCRATCH_2"
    )
    lustre_version: LustreVersion = Field(default="2.15", description="2.15 or 2.12")
    """2.15 has clients for today's kernels; China has nothing newer than 2.12."""

    capacity_gib: int = Field(default=1200, description="1200 or a multiple of 2400")
    throughput_mbps_per_tib: int | None = Field(
        default=None,
        description="125, 250, 500 or 1000 for PERSISTENT_2 (default 125); 50, 100 or 200 for "
        "PERSISTENT_1 (default 50); not for SCRATCH_2",
    )
    metadata_iops: int | None = Field(
        default=None,
        description="1500, 3000, 6000, or a multiple of 12000 up to 192000, for PERSISTENT_2",
    )
    """Without it: what comes with the capacity. It can be raised later, never lowered."""

    compression: Literal["LZ4", "NONE"] = Field(default="LZ4", description="LZ4 or NONE")
    efa: bool = Field(default=False, description="true or false")
    """Whether clients with EFA reach the file system over it; set once, for PERSISTENT_2 only."""

    bucket_link: Literal["association", "import_path", "none"] = Field(
        default="association",
        description="association, none, or import_path for SCRATCH_2 and PERSISTENT_1",
    )
    """How the file system is linked to the bucket; never both ways at once."""

    import_events: Events = Field(
        default=EVENTS, description="none, or some of NEW, CHANGED, DELETED"
    )
    """Which changes in the bucket appear in the file system by themselves."""

    export_events: Events = Field(
        default=EVENTS, description="none, or some of NEW, CHANGED, DELETED"
    )
    """Which changes in the file system an association writes to the bucket by itself."""

    data_path: OptionalText = Field(
        default=None,
        pattern=r"^/$|^/[A-Za-z0-9_-]{1,255}(/[A-Za-z0-9_-]{1,255})*$",
        max_length=LONGEST_DATA_PATH,
        description="an absolute folder such as /data, or / for all of it; at most "
        f"{LONGEST_DATA_PATH} characters",
    )
    """The folder that mirrors the bucket, below which jobs find their channels.

    Without it: /data for an association, else / (with import_path: / and the bucket's prefix).
    """

    zone: int = Field(default=1, ge=1, le=6, description="1 to the number of private subnets")
    """Which private subnet holds the file system: FSx for Lustre lives in one zone.

    A change of this or of the deployment type makes a new file system: export the data first.
    """

    removal: Literal["destroy", "retain"] = Field(
        default="destroy", description="destroy or retain"
    )
    """With retain, NetworkStack cannot be deleted either: the file system stays in its subnet."""

    @field_validator("capacity_gib")
    @classmethod
    def _capacity_is_offered(cls, gib: int) -> int:
        if gib != 1200 and (not 0 < gib <= MOST_CAPACITY_GIB or gib % 2400):
            raise ValueError("FSx for Lustre does not offer it")
        return gib

    @field_validator("metadata_iops")
    @classmethod
    def _metadata_iops_are_offered(cls, iops: int | None) -> int | None:
        if iops is not None and iops not in METADATA_IOPS:
            raise ValueError("FSx for Lustre does not offer it")
        return iops

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        refuse(problems_of_fsx(self))
        return self

    @property
    def is_wanted(self) -> bool:
        """Whether there is an FSx file system at all."""
        return self.wanted == "create"

    @property
    def is_new(self) -> bool:
        return self.is_wanted and self.file_system_id is None

    @property
    def may_use_bucket(self) -> bool:
        """Whether it is linked to the bucket, or, existing, may be."""
        return self.is_wanted and not (self.is_new and self.bucket_link == "none")

    @property
    def effective_throughput_mbps_per_tib(self) -> int | None:
        """None where the deployment type fixes it."""
        offered = THROUGHPUTS_MBPS_PER_TIB[self.deployment]
        return self.throughput_mbps_per_tib or (offered[0] if offered else None)

    def effective_data_path(self, bucket_prefix: str | None) -> str:
        """Return the folder below which jobs find their channels.

        With ImportPath the root of the file system stands for the root of the bucket, of which
        only the prefix is there, so that the prefix shows as a folder.
        https://docs.aws.amazon.com/fsx/latest/LustreGuide/older-deployment-types.html
        """
        if self.is_new and self.bucket_link == "import_path":
            return f"/{bucket_prefix or ''}"
        linked = self.is_new and self.bucket_link == "association"
        return self.data_path or (DEFAULT_DATA_PATH if linked else "/")
