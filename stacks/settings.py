"""What a user may choose about the stacks: one frozen object, checked once.

The defaults are here and nowhere else. Nothing below app.py reads context or environment, and
checking needs neither network nor account.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from stacks.context import one_line, own_keys, unknown_key
from stacks.subnet_plan import SubnetPlan, cut_in_four, problems_of_plan, problems_of_vpc
from training.errors import UsageError

ZONES = 3
"""Private subnets, each in a zone of its own."""

ZONE_NAME = re.compile(r"(?P<region>[a-z]{2,3}(-[a-z]+)+-\d+)[a-z]")

# fmt: off
FLOW_LOG_RETENTION_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
)
# fmt: on
"""https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html"""

PERSISTENT_2_THROUGHPUTS = (125, 250, 500, 1000)
"""Of SSD storage, in MB/s for each TiB.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""


def _split_list(value: object) -> object:
    """Read a list as `-c` gives it: `a,b,c` or a JSON array."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [item.strip() for item in value.split(",")]


CommaSeparated = BeforeValidator(_split_list)


def _refuse(problems: Iterator[str]) -> None:
    """Raise the first problem, if there is one, as pydantic expects it."""
    for problem in problems:
        raise ValueError(problem)


class Settings(BaseModel):
    """The settings of all stacks; each description says what is allowed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vpc_cidr: IPv4Network = Field(
        default=IPv4Network("172.30.0.0/16"),
        description="an IPv4 network of /16 to /26 without host bits, such as 172.30.0.0/16",
    )
    """Cut in four equal parts, one public and three private, unless the subnets are given."""

    public_subnet_cidr: IPv4Network | None = Field(
        default=None, description="an IPv4 network of /28 or larger inside vpc_cidr"
    )
    private_subnet_cidrs: Annotated[tuple[IPv4Network, ...] | None, CommaSeparated] = Field(
        default=None, description="three IPv4 networks of /28 or larger inside vpc_cidr: A,B,C"
    )

    availability_zones: Annotated[tuple[str, ...] | None, CommaSeparated] = Field(
        default=None,
        description="three zones of one region, such as us-west-2a,us-west-2b,us-west-2c",
    )
    """Without them: the first three that CloudFormation finds where it deploys (Fn::GetAZs)."""

    nat_gateways: int = Field(default=1, ge=0, le=1, description="0 or 1")
    """With 0, private subnets reach S3 and each other, nothing else."""

    flow_log_retention_days: int = Field(
        default=90, description="one of " + ", ".join(map(str, FLOW_LOG_RETENTION_DAYS))
    )

    fsx_deployment: Literal["PERSISTENT_2", "SCRATCH_2"] = Field(
        default="PERSISTENT_2", description="PERSISTENT_2 or SCRATCH_2"
    )
    fsx_capacity_gib: int = Field(default=1200, description="1200 or a multiple of 2400")
    fsx_throughput_mbps_per_tib: int | None = Field(
        default=None,
        description="125, 250, 500 or 1000 for PERSISTENT_2 (default 125); not for SCRATCH_2",
    )
    fsx_compression: Literal["LZ4", "NONE"] = Field(default="LZ4", description="LZ4 or NONE")
    fsx_bucket_link: Literal["association", "import_path"] = Field(
        default="association", description="association, or import_path for SCRATCH_2"
    )
    """How the file system is linked to the bucket; never both ways at once."""

    fsx_data_path: str = Field(
        default="/data",
        pattern=r"^/[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$",
        description="an absolute folder below the root, such as /data",
    )
    """The folder of the file system that mirrors the bucket through an association."""

    fsx_zone: int = Field(default=1, ge=1, le=ZONES, description="1, 2 or 3")
    """Which private subnet holds the file system: FSx for Lustre lives in one zone.

    A change of this or of the deployment type makes a new file system: export the data first.
    """

    fsx_removal: Literal["destroy", "retain"] = Field(
        default="destroy", description="destroy or retain"
    )
    """With retain, NetworkStack cannot be deleted either: the file system stays in its subnet."""

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Self:
        """Read the settings from an app's context.

        Raises:
            UsageError: A key is not known or a value not allowed; one line that names the key.
        """
        values = own_keys(context)
        for key in values:
            if key not in cls.model_fields:
                raise UsageError(unknown_key(key, list(cls.model_fields)))
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            allowed = {key: field.description or "" for key, field in cls.model_fields.items()}
            raise UsageError(one_line(error, allowed)) from error

    @field_validator("vpc_cidr")
    @classmethod
    def _vpc_is_possible(cls, vpc: IPv4Network) -> IPv4Network:
        _refuse(problems_of_vpc(vpc))
        return vpc

    @field_validator("private_subnet_cidrs", "availability_zones")
    @classmethod
    def _three_of_them(cls, value: tuple[object, ...] | None) -> tuple[object, ...] | None:
        if value is not None and len(set(value)) != ZONES:
            raise ValueError(f"{ZONES} different ones are needed")
        return value

    @field_validator("availability_zones")
    @classmethod
    def _zones_of_one_region(cls, zones: tuple[str, ...] | None) -> tuple[str, ...] | None:
        matches = [ZONE_NAME.fullmatch(zone) for zone in zones or ()]
        regions = {match["region"] if match else None for match in matches}
        if None in regions:
            raise ValueError("they are not all names of zones")
        if len(regions) > 1:
            raise ValueError("they are of different regions")
        return zones

    @field_validator("flow_log_retention_days")
    @classmethod
    def _retention_is_offered(cls, days: int) -> int:
        if days not in FLOW_LOG_RETENTION_DAYS:
            raise ValueError("CloudWatch Logs does not offer it")
        return days

    @field_validator("fsx_capacity_gib")
    @classmethod
    def _capacity_is_offered(cls, gib: int) -> int:
        if gib != 1200 and (gib <= 0 or gib % 2400):
            raise ValueError("FSx for Lustre does not offer it")
        return gib

    @model_validator(mode="after")
    def _subnets_fit(self) -> Self:
        if (self.public_subnet_cidr is None) != (self.private_subnet_cidrs is None):
            raise ValueError("public_subnet_cidr and private_subnet_cidrs go together: set both")
        _refuse(problems_of_plan(self.vpc_cidr, self.subnet_plan))
        return self

    @model_validator(mode="after")
    def _fsx_options_go_together(self) -> Self:
        throughput = self.fsx_throughput_mbps_per_tib
        if self.fsx_deployment == "SCRATCH_2" and throughput is not None:
            raise ValueError(
                f"fsx_throughput_mbps_per_tib = {throughput} does not go with fsx_deployment = "
                "SCRATCH_2, whose throughput is fixed at 200: leave it out"
            )
        if throughput is not None and throughput not in PERSISTENT_2_THROUGHPUTS:
            raise ValueError(
                f"fsx_throughput_mbps_per_tib = {throughput}: allowed for PERSISTENT_2 are "
                + ", ".join(map(str, PERSISTENT_2_THROUGHPUTS))
            )
        if self.fsx_deployment == "PERSISTENT_2" and self.fsx_bucket_link == "import_path":
            raise ValueError(
                "fsx_bucket_link = import_path does not go with fsx_deployment = PERSISTENT_2: "
                "take fsx_bucket_link = association, or fsx_deployment = SCRATCH_2"
            )
        return self

    @property
    def subnet_plan(self) -> SubnetPlan:
        if self.public_subnet_cidr is None or self.private_subnet_cidrs is None:
            return cut_in_four(self.vpc_cidr)
        return SubnetPlan(public=self.public_subnet_cidr, private=self.private_subnet_cidrs)

    @property
    def effective_fsx_throughput_mbps_per_tib(self) -> int | None:
        """None where the deployment type fixes it."""
        if self.fsx_deployment == "SCRATCH_2":
            return None
        return self.fsx_throughput_mbps_per_tib or PERSISTENT_2_THROUGHPUTS[0]
