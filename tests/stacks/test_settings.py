"""Which context is ours, and how a mistake in it is told; each group has tests of its own."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from stacks.settings import Settings
from training.errors import UsageError


@pytest.mark.parametrize("key", ["vpc_cdir", "vpc-cidr", "VPC_CIDR"])
def test_a_misspelt_key_is_answered_with_the_nearest(key: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context({key: "10.0.0.0/16"})
    assert str(error.value) == f"context key {key} is not known: did you mean vpc_cidr?"


def test_a_key_like_no_other_is_answered_with_all_that_are_known() -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context({"qqq": 1})
    assert str(error.value).endswith(f"known are {', '.join(Settings.allowed())}")


def test_context_of_cdk_itself_is_left_alone() -> None:
    context = {
        "@aws-cdk/core:checkSecretUsage": True,
        "aws:cdk:enable-path-metadata": True,
        "availability-zones:account=1:region=us-east-1": ["us-east-1a"],
        "acknowledged-issue-numbers": [1],
        "cli-telemetry": False,
    }
    assert Settings.from_context(context) == Settings()


def test_text_of_the_command_line_and_values_of_cdk_json_mean_the_same() -> None:
    text = {
        "nat_gateways": "0",
        "availability_zones": "us-west-2a, us-west-2b,us-west-2c",
        "public_subnet_cidrs": "172.30.0.0/20",
        "private_subnet_cidrs": '["172.30.16.0/20", "172.30.32.0/20", "172.30.48.0/20"]',
        "fsx_capacity_gib": "4800",
        "termination_protection": "true",
        "tags": "Team=Vision",
    }
    values = {
        "nat_gateways": 0,
        "availability_zones": ["us-west-2a", "us-west-2b", "us-west-2c"],
        "public_subnet_cidrs": ["172.30.0.0/20"],
        "private_subnet_cidrs": ["172.30.16.0/20", "172.30.32.0/20", "172.30.48.0/20"],
        "fsx_capacity_gib": 4800,
        "termination_protection": True,
        "tags": {"Team": "Vision"},
    }
    assert Settings.from_context(text) == Settings.from_context(values)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().network.nat_gateways = 0


def test_every_setting_says_what_is_allowed() -> None:
    assert [key for key, text in Settings.allowed().items() if not text] == []
