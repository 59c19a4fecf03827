"""A sample of the matrix of settings on local AWS: deployed, changed, and destroyed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LocalAws
from tests.localaws.deployed_app import DeployedApp, in_region
from tests.localaws.things_of_others import ThingsOfOthers, make_things_of_others
from tests.stacks.matrix import MATRIX, STACKS, USUAL_REGION
from training.aws.cloudformation import read_outputs_from_cloudformation
from training.outputs import CONTRACTS, Outputs, StorageOutputs

pytestmark = pytest.mark.slow

Settings = Mapping[str, Any]

GOVERNED = MATRIX["governed"]
BEIJING = {**MATRIX["beijing"], "zone_count": "2"}
"""local AWS knows two of its zones."""

CHANGES: Mapping[str, tuple[Settings, Settings]] = {
    "another lustre": (MATRIX["efa"], {**MATRIX["import-path"], **MATRIX["provisioned-efs"]}),
    "tags and protection": (
        GOVERNED,
        {**GOVERNED, "tags": "Team=Pathology", "termination_protection": "false"},
    ),
    "China": (BEIJING, {**BEIJING, "interface_endpoints": "needed"}),
}
MORE_CHANGES: Mapping[str, tuple[Settings, Settings]] = {
    "ways out": ({"nat_gateways": "3"}, MATRIX["no-nat"]),
    "a third zone": ({"zone_count": "2"}, {"zone_count": "3"}),
    "GovCloud": (MATRIX["govcloud"], {**MATRIX["govcloud"], **MATRIX["no-fsx"]}),
}


def region_of(settings: Settings) -> str:
    return str(settings.get("aws_region", USUAL_REGION))


@pytest.fixture
def app(
    request: pytest.FixtureRequest, local_aws: LocalAws, tmp_path: Path
) -> Iterator[DeployedApp]:
    """The app in the region of a test's settings; destroyed in the end, whatever happened."""
    settings = getattr(request, "param", {})
    app = DeployedApp(in_region(local_aws, region_of(settings)), tmp_path)
    yield app
    app.destroy(by_force=True)


def outputs(aws: LocalAws) -> Outputs:
    """Return what the launcher reads; every output of the contract is there."""
    found = read_outputs_from_cloudformation(aws.client("cloudformation"), STACKS)
    for contract in CONTRACTS:
        found.read(contract)
    return found


def deploy_change_and_destroy(app: DeployedApp, before: Settings, after: Settings) -> None:
    assert app.deploy(before) == dict.fromkeys(STACKS, "CREATE_COMPLETE")
    assert app.drift() == {}
    outputs(app.aws)

    changed = app.deploy(after)
    assert set(changed.values()) <= {"UPDATE_COMPLETE", "unchanged"}
    assert "UPDATE_COMPLETE" in changed.values()
    assert app.drift() == {}
    storage = outputs(app.aws).read(StorageOutputs)
    assert app.deploy(after) == dict.fromkeys(STACKS, "unchanged")

    app.destroy()
    assert app.stacks() == {}
    app.aws.client("s3").head_bucket(Bucket=storage.bucket_name)
    app.aws.client("efs").describe_file_systems(FileSystemId=storage.efs_id)
    app.aws.client("kms").describe_key(KeyId=storage.encryption_key_arn)


@pytest.mark.parametrize(
    ("app", "change"), [(before, name) for name, (before, _) in CHANGES.items()], indirect=["app"]
)
def test_settings_are_deployed_changed_and_destroyed(app: DeployedApp, change: str) -> None:
    deploy_change_and_destroy(app, *CHANGES[change])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("app", "change"),
    [(before, name) for name, (before, _) in MORE_CHANGES.items()],
    indirect=["app"],
)
def test_more_settings_are_deployed_changed_and_destroyed(app: DeployedApp, change: str) -> None:
    deploy_change_and_destroy(app, *MORE_CHANGES[change])


# https://github.com/aws/aws-cdk/issues/7602
def test_what_other_stacks_use_is_switched_off_and_on_again(app: DeployedApp) -> None:
    with_all = {"interface_endpoints": "all"}
    without = {**MATRIX["no-internet"], **MATRIX["no-fsx"], "bucket_access_logs": "none"}
    app.deploy(with_all)
    fewer = app.deploy(without)
    assert fewer["NetworkStack"] == fewer["StorageStack"] == "UPDATE_COMPLETE"
    assert fewer["NotebookStack"] == "UPDATE_COMPLETE"
    assert app.drift() == {}
    app.deploy(with_all)
    assert app.drift() == {}
    outputs(app.aws).read(StorageOutputs).lustre(asked_by="the test")


@pytest.fixture(scope="session")
def things(local_aws: LocalAws) -> ThingsOfOthers:
    return make_things_of_others(in_region(local_aws, USUAL_REGION))


def security_group_rules(aws: LocalAws, things: ThingsOfOthers) -> list[str]:
    """Return the rules of the groups of others."""
    groups = [id_ for id_ in things.ids.values() if id_.startswith("sg-")]
    found = aws.client("ec2").describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": groups}]
    )
    return sorted(rule["SecurityGroupRuleId"] for rule in found["SecurityGroupRules"])


def test_what_others_have_is_used_and_left_as_it_was(
    app: DeployedApp, things: ThingsOfOthers
) -> None:
    rules = security_group_rules(app.aws, things)
    before = things.settings("nothing-new")
    after = {
        **things.settings("existing-vpc"),
        **things.settings("logs-elsewhere"),
        "efs_id": things.bare_efs_id,
        "encryption_key_arn": things.key_arn,
        # In another security group, so a new one.
        "notebook_name": "new",
    }
    deploy_change_and_destroy(app, before, after)
    assert security_group_rules(app.aws, things) == rules
    kept = [before["efs_id"], things.bare_efs_id, before["fsx_id"]]
    assert [(app.aws.mounts / id_).is_dir() for id_ in kept] == [True, True, True]
    app.aws.client("ec2").describe_vpcs(VpcIds=[before["vpc_id"]])


def test_mount_targets_are_added_or_used(app: DeployedApp, things: ThingsOfOthers) -> None:
    efs = app.aws.client("efs")
    rules = security_group_rules(app.aws, things)
    vpc = things.settings("existing-vpc")
    mounted = things.settings("mounted-efs")
    targets = efs.describe_mount_targets(FileSystemId=mounted["efs_id"])["MountTargets"]

    app.deploy({**vpc, "efs_id": things.bare_efs_id})
    made = efs.describe_mount_targets(FileSystemId=things.bare_efs_id)["MountTargets"]
    assert {each["SubnetId"] for each in made} == {each["SubnetId"] for each in targets}

    app.deploy({**vpc, **mounted})
    assert app.drift() == {}
    assert efs.describe_mount_targets(FileSystemId=things.bare_efs_id)["MountTargets"] == []
    assert efs.describe_mount_targets(FileSystemId=mounted["efs_id"])["MountTargets"] == targets
    added = set(security_group_rules(app.aws, things)) - set(rules)
    assert len(added) == 1

    app.destroy()
    assert security_group_rules(app.aws, things) == rules


def test_notebook_that_would_lose_its_volume_is_kept_until_it_gets_another_name(
    app: DeployedApp,
) -> None:
    sagemaker = app.aws.client("sagemaker")
    app.deploy({"notebook_name": "old"})
    with pytest.raises(AssertionError, match=r"NotebookStack.*ROLLBACK_COMPLETE.*Rename old"):
        app.deploy({"notebook_name": "old", "notebook_zone": "2"})
    sagemaker.describe_notebook_instance(NotebookInstanceName="old")

    app.deploy({"notebook_name": "new", "notebook_zone": "2"})
    instances = sagemaker.list_notebook_instances()["NotebookInstances"]
    assert [each["NotebookInstanceName"] for each in instances] == ["new"]


def test_failed_change_names_the_resource_and_leaves_what_was(app: DeployedApp) -> None:
    app.deploy({})
    missing = "fs-0123456789abcdef9"
    with pytest.raises(AssertionError, match=rf"StorageStack.*UPDATE_ROLLBACK_COMPLETE.*{missing}"):
        app.deploy({"efs_id": missing})
    assert app.drift() == {}
    assert set(app.deploy({}).values()) <= {"unchanged", "UPDATE_COMPLETE"}
