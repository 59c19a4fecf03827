"""Account and region."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, IDENTITY, Stub, codes_of
from training.aws.ec2 import Ec2
from training.aws.sts import Identity
from training.preflight.stacks.account import (
    AccountIsTheOneNamed,
    LauncherLooksThere,
    RegionIsEnabled,
    SettingsSuitRegion,
)


@pytest.mark.parametrize("account", [None, ACCOUNT])
def test_the_account_named_passes_and_any_where_none_is(account: str | None) -> None:
    assert codes_of(AccountIsTheOneNamed(IDENTITY, account)) == []


def test_another_account_is_told_with_whose_credentials_they_are() -> None:
    (finding,) = AccountIsTheOneNamed(IDENTITY, "210987654321").find()
    assert (finding.code, finding.path) == ("account-differs", "aws_account")
    assert "arn:aws:iam::123456789012:user/somebody" in finding.message


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ([{"OptInStatus": "opt-in-not-required"}], []),
        ([{"OptInStatus": "opted-in"}], []),
        ([{"OptInStatus": "not-opted-in"}], ["region-not-enabled"]),
        ([], ["region-not-enabled"]),
    ],
)
def test_a_region_has_to_be_enabled(
    stub: Stub, answer: list[dict[str, str]], codes: list[str]
) -> None:
    request = {
        "AllRegions": True,
        "Filters": [{"Name": "region-name", "Values": ["me-south-1"]}],
    }
    home = Ec2(stub("ec2", ("describe_regions", {"Regions": answer}, request)))
    assert codes_of(RegionIsEnabled(home, "me-south-1")) == codes


@pytest.mark.parametrize(
    ("environment", "codes"),
    [
        ("us-west-2", []),
        (None, []),
        ("eu-west-1", ["launcher-in-another-region"]),
    ],
)
def test_the_launcher_has_to_look_where_the_stacks_go(
    environment: str | None, codes: list[str]
) -> None:
    assert codes_of(LauncherLooksThere("us-west-2", environment)) == codes


@pytest.mark.parametrize(
    ("region", "context", "words"),
    [
        ("us-west-2", {}, None),
        ("us-west-2", {"availability_zones": "us-west-2a,us-west-2b"}, None),
        ("us-west-2", {"availability_zones": "eu-west-1a,eu-west-1b"}, "the zone eu-west-1a is"),
        ("sa-east-1", {}, "fsx_deployment = PERSISTENT_2 is not offered in sa-east-1"),
        ("sa-east-1", {"fsx": "none"}, None),
    ],
)
def test_settings_without_a_region_have_to_suit_that_of_the_environment(
    region: str, context: dict[str, Any], words: str | None
) -> None:
    findings = list(SettingsSuitRegion(context, region).find())
    assert [found.code for found in findings] == (["settings-unfit-for-region"] if words else [])
    assert all(words and words in found.message for found in findings)


@pytest.mark.parametrize(
    ("arn", "role", "is_root"),
    [
        ("arn:aws:iam::1:user/path/me", None, False),
        ("arn:aws:iam::1:root", None, True),
        ("arn:aws-cn:sts::1:assumed-role/Admin/session", "Admin", False),
        ("arn:aws:sts::1:federated-user/me", None, False),
    ],
)
def test_an_identity_tells_its_role(arn: str, role: str | None, is_root: bool) -> None:
    identity = Identity("1", arn)
    assert (identity.role_name, identity.is_root) == (role, is_root)
    assert identity.partition == arn.split(":")[1]
