"""EFS in StorageStack: what it is made of and who may do what on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stacks.matrix import Template, properties, resources
from tests.stacks.storage_stack import (
    SUBNETS,
    TRAINING,
    group_of,
    only,
    our_key,
    outputs,
    ports_admitted,
    ports_sent,
    storage_template,
)

NFS = {("tcp", 2049, 2049)}
EFS = "fs-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def file_system(**context: str) -> dict[str, Any]:
    return only(storage_template(**context), "AWS::EFS::FileSystem")


def test_it_is_encrypted_with_our_key_and_backed_up() -> None:
    template = storage_template()
    made = only(template, "AWS::EFS::FileSystem")
    assert (made["Encrypted"], made["KmsKeyId"]) == (True, our_key(template))
    assert made["BackupPolicy"] == {"Status": "ENABLED"}
    assert file_system(efs_backups="false")["BackupPolicy"] == {"Status": "DISABLED"}


@pytest.mark.parametrize(
    ("context", "mode", "mibps"),
    [
        ({}, "elastic", None),
        ({"efs_throughput_mode": "bursting"}, "bursting", None),
        (
            {"efs_throughput_mode": "provisioned", "efs_provisioned_mibps": "100"},
            "provisioned",
            100,
        ),
    ],
)
def test_throughput_follows_the_settings(
    context: dict[str, str], mode: str, mibps: int | None
) -> None:
    made = file_system(**context)
    assert (made["ThroughputMode"], made.get("ProvisionedThroughputInMibps")) == (mode, mibps)


@pytest.mark.parametrize("days", [1, 7, 14, 30, 60, 90, 180, 270, 365])
def test_files_that_nobody_reads_move_and_come_back(days: int) -> None:
    unit = "DAY" if days == 1 else "DAYS"
    assert file_system(efs_infrequent_access_days=str(days))["LifecyclePolicies"] == [
        {"TransitionToIA": f"AFTER_{days}_{unit}"},
        {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
    ]


def test_without_infrequent_access_what_was_moved_comes_back() -> None:
    assert file_system(efs_infrequent_access_days="none")["LifecyclePolicies"] == [
        {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"}
    ]


@pytest.mark.parametrize(
    ("root_access", "actions"),
    [
        ("anyone", {"ClientMount", "ClientWrite", "ClientRootAccess"}),
        ("iam", {"ClientMount", "ClientWrite"}),
    ],
)
def test_plain_clients_of_the_mount_targets_mount_and_write_and_are_root_as_set(
    root_access: str, actions: set[str]
) -> None:
    """With our cdk.json: CDK's own statement does not grant ClientMount (aws/aws-cdk#36224)."""
    [statement] = file_system(efs_root_access=root_access)["FileSystemPolicy"]["Statement"]
    assert statement == {
        "Sid": "ClientsOfTheMountTargets",
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": sorted(f"elasticfilesystem:{action}" for action in actions),
        # Not TLS, not a role, not an access point: SageMaker has none of them.
        "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    }


def test_it_has_a_mount_target_in_each_private_subnet() -> None:
    template = storage_template()
    [file_system_id] = resources(template, "AWS::EFS::FileSystem")
    targets = properties(template, "AWS::EFS::MountTarget")
    assert [each["SubnetId"] for each in targets] == list(SUBNETS)
    for each in targets:
        assert each["FileSystemId"] == {"Ref": file_system_id}
        assert each["SecurityGroups"] == [group_of(template, "EFS mount targets")]


@pytest.mark.parametrize("context", [{}, {"efs_id": EFS}])
def test_only_training_jobs_reach_the_mount_targets_and_only_over_nfs(
    context: dict[str, str],
) -> None:
    template = storage_template(**context)
    targets = group_of(template, "EFS mount targets")
    assert ports_sent(template, sender=TRAINING, receiver=targets) == NFS
    assert ports_admitted(template, sender=TRAINING, receiver=targets) == NFS
    rules = properties(template, "AWS::EC2::SecurityGroupIngress")
    assert [each["SourceSecurityGroupId"] for each in rules if each["GroupId"] == targets] == [
        TRAINING
    ]


def test_an_existing_one_without_mount_targets_gets_one_in_each_private_subnet() -> None:
    template = storage_template(efs_id=EFS)
    targets = properties(template, "AWS::EFS::MountTarget")
    assert [(each["FileSystemId"], each["SubnetId"]) for each in targets] == [
        (EFS, subnet) for subnet in SUBNETS
    ]
    assert_nothing_of_it_is_changed(template)
    assert outputs(template)["EfsId"] == EFS
    assert outputs(template)["EfsMountTargets"] == "create"
    assert outputs(template)["EfsSecurityGroupId"] == group_of(template, "EFS mount targets")


def test_existing_mount_targets_are_used_and_let_training_jobs_in() -> None:
    template = with_mount_targets()
    assert resources(template, "AWS::EFS::MountTarget") == {}
    assert_nothing_of_it_is_changed(template)
    assert ports_sent(template, sender=TRAINING, receiver=GROUP) == NFS
    assert ports_admitted(template, sender=TRAINING, receiver=GROUP) == NFS
    assert outputs(template)["EfsMountTargets"] == "existing"
    assert outputs(template)["EfsSecurityGroupId"] == GROUP


def test_the_group_of_existing_mount_targets_is_left_alone_where_it_has_its_rules() -> None:
    template = with_mount_targets(efs_security_group_rules="existing")
    assert ports_admitted(template, sender=TRAINING, receiver=GROUP) == set()
    assert ports_sent(template, sender=TRAINING, receiver=GROUP) == NFS


def with_mount_targets(**context: str) -> Template:
    return storage_template(
        efs_id=EFS, efs_mount_targets="existing", efs_security_group_id=GROUP, **context
    )


def assert_nothing_of_it_is_changed(template: Template) -> None:
    types = {each["Type"] for each in template["Resources"].values()}
    assert {each for each in types if each.startswith("AWS::EFS::")} <= {"AWS::EFS::MountTarget"}
