"""Settings that name what our own stacks made."""

from __future__ import annotations

from stacks.settings import Settings
from tests.training.preflight.stacks.conftest import (
    IDENTITY,
    REGION,
    codes_of,
    only_finding_of,
    own,
)
from tests.training.preflight.stacks.test_registry import FSX, VPC
from training.aws.clients import Clients
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.named_own import NothingOfOursIsNamed
from training.preflight.stacks.place import Place


def test_what_is_named_is_compared_with_every_stack() -> None:
    stacks = [own("vpc-1"), own("fs-1", "fs-2", stack="StorageStack")]
    strangers = {"vpc_id": ["vpc-2"], "efs_id": ["fs-3"]}
    assert codes_of(NothingOfOursIsNamed(stacks, strangers)) == []
    finding = only_finding_of(
        NothingOfOursIsNamed(stacks, strangers | {"fsx_id": ["fs-1"]}), "named-is-our-own"
    )
    assert finding.message.startswith("fsx_id names fs-1, which StorageStack made.")
    assert finding.message.endswith("Leave fsx_id out: the stacks use it anyway")


def test_every_setting_that_names_something_is_looked_at(clients: Clients) -> None:
    context = VPC | FSX | {"efs_id": "fs-00000001", "bucket_name": "mine"}
    place = Place(IDENTITY, REGION, "hnb659fds", REGION, clients)
    named = Deployment(context, Settings.from_context(context), place).named
    assert named == {
        "vpc_id": ["vpc-01234567"],
        "private_subnets": ["subnet-00000001", "subnet-00000002"],
        "bucket_name": ["mine"],
        "efs_id": ["fs-00000001"],
        "fsx_id": ["fs-01234567"],
        "fsx_security_group_id": ["sg-01234567"],
    }
