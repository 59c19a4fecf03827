"""Which account and region the stacks go to, and whether the settings mean them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.aws.sts import Identity
from training.errors import UsageError
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class AccountIsTheOneNamed(Check):
    """The credentials belong to `aws_account`."""

    codes: ClassVar[Mapping[str, Severity]] = {"account-differs": "error"}
    actions: ClassVar[tuple[str, ...]] = ()

    identity: Identity
    account: str | None
    """The setting; None where any will do."""

    def find(self) -> Iterator[Finding]:
        if self.account and self.account != self.identity.account:
            yield self.found(
                "account-differs",
                "aws_account",
                f"aws_account is {self.account}, but the credentials are of account "
                f"{self.identity.account} ({self.identity.arn}). Use a profile of that account "
                "(AWS_PROFILE), or change aws_account",
            )


@dataclass(frozen=True)
class RegionIsEnabled(Check):
    """The account may use the region."""

    codes: ClassVar[Mapping[str, Severity]] = {"region-not-enabled": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeRegions",)

    home: Ec2
    """Of a region that every account has: one that is not enabled takes no request at all."""
    region: str

    def find(self) -> Iterator[Finding]:
        status = self.home.region_status(self.region)
        if status is None:
            yield self.found(
                "region-not-enabled",
                "aws_region",
                f"this account knows no region {self.region}. Set aws_region to one that "
                "aws account list-regions shows",
            )
        elif status == "not-opted-in":
            yield self.found(
                "region-not-enabled",
                "aws_region",
                f"the account has not enabled the region {self.region}. Enable it (aws account "
                f"enable-region --region-name {self.region}; it takes minutes to hours), or set "
                "aws_region to another",
            )


@dataclass(frozen=True)
class LauncherLooksThere(Check):
    """The environment of this command, which the launcher has too, names the stacks' region."""

    codes: ClassVar[Mapping[str, Severity]] = {"launcher-in-another-region": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    region: str
    """Where the stacks go."""
    environment_region: str | None
    """Of the profile or environment; None where there is none."""

    def find(self) -> Iterator[Finding]:
        if self.environment_region and self.environment_region != self.region:
            yield self.found(
                "launcher-in-another-region",
                "aws_region",
                f"aws_region is {self.region}, but your environment or profile says "
                f"{self.environment_region}, where python -m training.launch will look for the "
                f"stacks. Set AWS_REGION={self.region} for the launcher",
            )


@dataclass(frozen=True)
class SettingsSuitRegion(Check):
    """Settings that name no region suit the one that the environment gives."""

    codes: ClassVar[Mapping[str, Severity]] = {"settings-unfit-for-region": "error"}
    actions: ClassVar[tuple[str, ...]] = ()

    context: Mapping[str, Any]
    region: str

    def find(self) -> Iterator[Finding]:
        from stacks.settings import Settings

        try:
            Settings.from_context({**self.context, "aws_region": self.region})
        except UsageError as error:
            yield self.found(
                "settings-unfit-for-region",
                "aws_region",
                f"the stacks go to {self.region}, the region of your environment or profile, and "
                f"the settings do not suit it: {error}. For another region set aws_region or "
                "AWS_REGION",
            )
