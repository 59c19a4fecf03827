"""Which settings of EFS are accepted, and how a mistake is told."""

from __future__ import annotations

import pytest

from stacks.settings import Settings
from stacks.settings.efs import EfsSettings
from training.errors import UsageError

EFS = "fs-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def read(**context: str) -> EfsSettings:
    return Settings.from_context(context).efs


def test_by_default_a_new_elastic_file_system_is_backed_up_and_moves_what_nobody_reads() -> None:
    settings = read()
    assert settings.file_system_id is None
    assert settings.throughput_mode == "elastic"
    assert settings.infrequent_access_days == 30
    assert settings.backups is True
    assert settings.root_access == "anyone"


@pytest.mark.parametrize(("text", "days"), [("none", None), ("7", 7), ("365", 365)])
def test_infrequent_access_is_a_number_of_days_or_none(text: str, days: int | None) -> None:
    assert read(efs_infrequent_access_days=text).infrequent_access_days == days


@pytest.mark.parametrize("file_system_id", ["fs-01234567", EFS])
def test_ids_of_both_lengths_are_taken(file_system_id: str) -> None:
    assert read(efs_id=file_system_id).file_system_id == file_system_id


def test_an_empty_id_is_none() -> None:
    assert read(efs_id="", efs_security_group_id="") == read()


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {"efs_id": "efs-1"},
            "context key efs_id = 'efs-1': allowed is the id of an existing file system, such as "
            "fs-0123456789abcdef0",
        ),
        (
            {"efs_throughput_mode": "fast"},
            "context key efs_throughput_mode = 'fast': allowed is elastic, bursting or provisioned",
        ),
        (
            {"efs_infrequent_access_days": "45"},
            "context key efs_infrequent_access_days = '45': EFS does not offer it; allowed is "
            "none, or one of 1, 7, 14, 30, 60, 90, 180, 270, 365",
        ),
        (
            {"efs_throughput_mode": "provisioned"},
            "context: efs_throughput_mode = provisioned wants efs_provisioned_mibps: set it to 1 "
            "to 3414",
        ),
        (
            {"efs_provisioned_mibps": "100"},
            "context: efs_provisioned_mibps = 100 does not go with efs_throughput_mode = elastic: "
            "leave it out, or take efs_throughput_mode = provisioned",
        ),
        (
            {"efs_throughput_mode": "provisioned", "efs_provisioned_mibps": "0"},
            "context key efs_provisioned_mibps = '0': allowed is 1 to 3414, for "
            "efs_throughput_mode = provisioned",
        ),
        (
            {"efs_mount_targets": "existing"},
            "context: efs_mount_targets = existing is for an existing file system: name it with "
            "efs_id, or leave efs_mount_targets out",
        ),
        (
            {"efs_security_group_id": GROUP},
            "context: efs_security_group_id is for an existing file system: name it with efs_id "
            "and set efs_mount_targets = existing, or leave efs_security_group_id out",
        ),
        (
            {"efs_id": EFS, "efs_mount_targets": "existing"},
            "context: efs_mount_targets = existing wants efs_security_group_id, the security "
            "group of the mount targets",
        ),
        (
            {"efs_id": EFS, "efs_security_group_id": GROUP},
            "context: efs_security_group_id does not go with efs_mount_targets = create, which "
            "makes a security group too: leave it out, or take efs_mount_targets = existing",
        ),
        (
            {"efs_id": EFS, "efs_root_access": "iam"},
            f"context: efs_root_access is for a new file system, but efs_id = {EFS} names an "
            "existing one, which stays as it is: leave efs_root_access or efs_id out",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(context: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("efs_throughput_mode", "bursting"),
        ("efs_infrequent_access_days", "7"),
        ("efs_backups", "false"),
        ("efs_root_access", "anyone"),
    ],
)
def test_what_only_a_new_file_system_has_is_refused_for_an_existing_one(
    key: str, value: str
) -> None:
    with pytest.raises(UsageError, match=f"{key} is for a new file system, but efs_id = {EFS}"):
        read(efs_id=EFS, **{key: value})
