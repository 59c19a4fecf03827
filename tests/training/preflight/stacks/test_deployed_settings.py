"""The settings of the last deploy beside those of the next."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from stacks.settings import Settings
from stacks.settings.recorded import GROUPS, RECORD, record_of
from tests.training.preflight.stacks.conftest import (
    Call,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.cloudformation import CloudFormation
from training.aws.ec2 import Ec2
from training.preflight.finding import Finding
from training.preflight.stacks.deployed_settings import SettingsStay

SUBNETS = "subnet-00000001:us-east-1a:rtb-01234567,subnet-00000002:us-east-1b:rtb-01234567"
VPC = {"vpc_id": "vpc-01234567", "private_subnets": SUBNETS}
KEY = "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"
FSX_OF_OTHERS = {
    "fsx_id": "fs-01234567",
    "fsx_mount_name": "abcdefgh",
    "fsx_security_group_id": "sg-01234567",
}
SCRATCH = {"fsx_deployment": "SCRATCH_2"}
IMPORTS = SCRATCH | {"fsx_bucket_link": "import_path"}
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d")


def described(name: str, status: str) -> Call:
    stack = {
        "StackName": name,
        "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
        "StackStatus": status,
    }
    return ("describe_stacks", {"Stacks": [stack]}, {"StackName": name})


def summary(name: str, metadata: dict[str, Any] | None) -> Call:
    answer = {} if metadata is None else {"Metadata": json.dumps(metadata)}
    return ("get_template_summary", answer, {"StackName": name})


def missing(name: str) -> Call:
    return (
        "describe_stacks",
        f"ValidationError: Stack with id {name} does not exist",
        {"StackName": name},
    )


def looked_up(*calls: Call, stub: Stub, after: dict[str, Any], ec2: Any = None) -> SettingsStay:
    return SettingsStay(
        CloudFormation(stub("cloudformation", *calls)), Ec2(ec2), Settings.from_context(after)
    )


def after_deploy(
    stub: Stub, before: dict[str, Any], after: dict[str, Any], ec2: Any = None
) -> SettingsStay:
    """Return the check where all stacks were deployed with some settings."""
    then = Settings.from_context(before)
    calls = [
        call
        for name in GROUPS
        for call in (
            described(name, "UPDATE_COMPLETE"),
            summary(name, {RECORD: record_of(then, name)}),
        )
    ]
    return looked_up(*calls, stub=stub, after=after, ec2=ec2)


def by_code(check: SettingsStay) -> dict[str, Finding]:
    findings = findings_of(check)
    found = {finding.code: finding for finding in findings}
    assert len(found) == len(findings)
    return found


@pytest.mark.parametrize("settings", [{}, VPC, {"tags": "Team=Vision", "fsx_zone": 2}, IMPORTS])
def test_the_same_settings_again_are_nothing_to_tell(stub: Stub, settings: dict[str, Any]) -> None:
    assert codes_of(after_deploy(stub, settings, settings)) == []


def test_stacks_that_are_not_there_or_tell_nothing_are_nothing_to_compare(stub: Stub) -> None:
    calls = (
        missing("NetworkStack"),
        described("StorageStack", "ROLLBACK_COMPLETE"),
        *(described("RegistryStack", "CREATE_COMPLETE"), summary("RegistryStack", None)),
        *(described("NotebookStack", "CREATE_COMPLETE"), summary("NotebookStack", {"Other": 1})),
        missing("ClusterStack"),
        missing("KubernetesStack"),
        missing("NotificationStack"),
    )
    assert codes_of(looked_up(*calls, stub=stub, after=VPC | {"fsx": "none"})) == []


def test_only_what_was_deployed_is_compared(stub: Stub) -> None:
    calls = (
        *(described("NetworkStack", "CREATE_COMPLETE"), summary("NetworkStack", {RECORD: {}})),
        *(missing(name) for name in list(GROUPS)[1:]),
    )
    check = looked_up(*calls, stub=stub, after={"fsx": "none", "nat_gateways": 2})
    finding = only_finding_of(check, "setting-changed")
    assert finding.path == "nat_gateways"


def test_what_was_forgotten_is_told_as_it_is_to_be_given_again(stub: Stub) -> None:
    before = {"registry_kept_images": 7, "tags": "Team=A B", "nat_gateways": 0}
    finding = only_finding_of(after_deploy(stub, before, {}), "setting-forgotten")
    assert finding.severity == "warning"
    for option in (
        "-c registry_kept_images=7",
        "-c nat_gateways=0",
        """-c 'tags={"Team": "A B"}'""",
    ):
        assert option in finding.message


def test_a_default_that_is_given_is_not_forgotten(stub: Stub) -> None:
    check = replace(after_deploy(stub, {"nat_gateways": 0}, {}), given={"nat_gateways"})
    assert only_finding_of(check, "setting-changed").path == "nat_gateways"


def test_another_value_is_a_remark_with_both(stub: Stub) -> None:
    check = after_deploy(stub, {"fsx_capacity_gib": 1200}, {"fsx_capacity_gib": 2400})
    finding = only_finding_of(check, "setting-changed")
    assert finding.severity == "info"
    assert "fsx_capacity_gib was 1200 at the last deploy, and is 2400 now" in finding.message


def test_where_to_deploy_and_planned_clusters_are_not_compared(stub: Stub) -> None:
    after = {
        "aws_region": "us-east-1",
        "termination_protection": "true",
        "planned_instance_type": "ml.p4d.24xlarge",
        "planned_instance_count": 2,
    }
    assert codes_of(after_deploy(stub, {}, after)) == []


@pytest.mark.parametrize(
    ("before", "after", "code", "keys"),
    [
        ({}, VPC, "replaces-vpc", "vpc_id"),
        ({}, {"vpc_cidr": "10.0.0.0/16"}, "replaces-vpc", "vpc_cidr"),
        ({}, {"zone_count": 2}, "replaces-subnets", "zone_count"),
        ({"zone_count": 3}, {"zone_count": 4}, "replaces-subnets", "zone_count"),
        ({}, SCRATCH, "replaces-file-system", "fsx_deployment"),
        ({}, {"fsx_efa": "true", "fsx_capacity_gib": 38400}, "replaces-file-system", "fsx_efa"),
        ({}, {"fsx_zone": 2, "notebook_zone": 1}, "replaces-file-system", "fsx_zone"),
        (SCRATCH, IMPORTS, "replaces-file-system", "fsx_bucket_link"),
        (IMPORTS, IMPORTS | {"bucket_prefix": "a"}, "replaces-file-system", "bucket_prefix"),
        (VPC, VPC | {"private_subnets": SUBNETS.replace("1:", "3:", 1), "notebook_zone": 2},
         "replaces-file-system", "private_subnets"),
        ({}, {"fsx": "none"}, "deletes-file-system", "fsx"),
        ({}, FSX_OF_OTHERS, "deletes-file-system", "fsx_id"),
        ({"fsx_removal": "retain"}, {"fsx": "none"}, "leaves-data-behind", "fsx"),
        ({}, {"efs_id": "fs-01234567"}, "leaves-data-behind", "efs_id"),
        ({}, {"bucket_name": "mine"}, "leaves-data-behind", "bucket_name"),
        ({}, {"encryption_key_arn": KEY}, "leaves-data-behind", "encryption_key_arn"),
        ({}, {"encryption_key_arn": KEY}, "replaces-file-system", "encryption_key_arn"),
        ({}, {"encryption_key_arn": KEY}, "notebook-needs-new-name", "encryption_key_arn"),
        ({}, {"notebook_name": "other"}, "replaces-notebook", "notebook_name"),
        ({}, {"notebook_zone": 2}, "notebook-needs-new-name", "notebook_zone"),
        ({"fsx": "none"}, {"fsx_zone": 2}, "notebook-needs-new-name", "fsx_zone,fsx"),
        (VPC, VPC | {"training_security_group_id": "sg-01234567"}, "notebook-needs-new-name",
         "training_security_group_id"),
        ({"notebook_volume_gib": 300}, {"notebook_volume_gib": 250}, "change-refused-by-aws",
         "notebook_volume_gib"),
        ({"fsx_capacity_gib": 2400}, {}, "change-refused-by-aws", "fsx_capacity_gib"),
        ({}, {"fsx_lustre_version": "2.12"}, "change-refused-by-aws", "fsx_lustre_version"),
        ({}, {"role_path": "/a/"}, "change-refused-by-aws", "role_path"),
        ({}, {"cluster_name": "other"}, "replaces-cluster", "cluster_name"),
        ({}, {"cluster_ami": "ami-01234567"}, "replaces-nodes", "cluster_ami"),
        ({}, {"cluster_ssh_location": "203.0.113.0/24"}, "replaces-nodes", "cluster_ssh_location"),
        ({}, {"cluster_spot": "true"}, "replaces-nodes", "cluster_spot"),
        ({}, {"eks_name": "other"}, "replaces-kubernetes", "eks_name"),
        ({}, {"eks_version": "1.36"}, "replaces-kubernetes-nodes", "eks_version"),
        ({}, {"eks_spot": "true"}, "replaces-kubernetes-nodes", "eks_spot"),
        ({}, {"eks_max_nodes": 8}, "ends-gpu-nodes", "eks_max_nodes"),
    ],
)  # fmt: skip
def test_each_change_that_loses_or_fails_is_told(
    stub: Stub, before: dict[str, Any], after: dict[str, Any], code: str, keys: str
) -> None:
    finding = by_code(after_deploy(stub, before, after))[code]
    assert finding.path == keys
    assert finding.message.endswith(f"If you mean it: --suppress {code}")
    mild = (
        *("leaves-data-behind", "replaces-cluster", "replaces-nodes", "replaces-kubernetes"),
        *("replaces-kubernetes-nodes", "ends-gpu-nodes"),
    )
    assert finding.severity == ("warning" if code in mild else "error")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"nat_gateways": 3}),
        ({}, {"fsx_capacity_gib": 2400}),
        ({"fsx_lustre_version": "2.12"}, {"fsx_lustre_version": "2.15"}),
        ({}, {"bucket_prefix": "a"}),
        ({}, {"notebook_volume_gib": 300}),
        ({}, {"notebook_instance_type": "ml.t3.large"}),
        ({}, {"project": "other"}),
        ({}, {"cluster_max_workers": 8}),
        ({}, {"eks_admin_arns": "arn:aws:iam::123456789012:role/Admin"}),
        ({}, {"eks_addon_versions": "coredns=v1.12.4-eksbuild.1"}),
        ({"cluster_ssh_location": "10.0.0.0/8"}, {"cluster_ssh_location": "10.1.0.0/16"}),
        (VPC | {"flow_logs": "existing"}, VPC | {"flow_logs": "existing", "role_path": "/a/"}),
        (SCRATCH | {"fsx": "none"}, {"fsx": "none"}),
        (VPC, VPC | {"private_subnets": f"{SUBNETS},subnet-00000003:us-east-1c:rtb-01234567"}),
    ],
)
def test_a_change_that_aws_makes_in_place_loses_nothing(
    stub: Stub, before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert set(codes_of(after_deploy(stub, before, after))) <= {
        "setting-changed",
        "setting-forgotten",
    }


@pytest.mark.parametrize(
    ("zones", "codes"),
    [(ZONES[:3], ["setting-changed"]), (ZONES[1:4], ["replaces-subnets"])],
)
def test_named_zones_are_compared_with_those_that_cloudformation_finds(
    stub: Stub, zones: tuple[str, ...], codes: list[str]
) -> None:
    found = [{"ZoneName": name, "State": "available"} for name in ZONES]
    calls: list[Call] = [
        (
            "describe_availability_zones",
            {"AvailabilityZones": found},
            {"Filters": [{"Name": "zone-type", "Values": ["availability-zone"]}]},
        ),
        (
            "describe_subnets",
            {"Subnets": []},
            {"Filters": [{"Name": "default-for-az", "Values": ["true"]}]},
        ),
    ]
    check = after_deploy(stub, {}, {"availability_zones": ",".join(zones)}, ec2=stub("ec2", *calls))
    assert codes_of(check) == codes


def test_a_record_of_another_version_is_compared_as_text(stub: Stub) -> None:
    record = {"fsx_deployment": "PERSISTENT_9", "gone": "1"}
    calls = (
        missing("NetworkStack"),
        described("StorageStack", "CREATE_COMPLETE"),
        summary("StorageStack", {RECORD: record}),
        *(missing(name) for name in list(GROUPS)[2:]),
    )
    finding = only_finding_of(looked_up(*calls, stub=stub, after={}), "setting-forgotten")
    assert finding.path == "fsx_deployment"


def test_the_whole_of_a_long_value_is_told_once(stub: Stub) -> None:
    found = by_code(after_deploy(stub, VPC, {}))
    assert SUBNETS in found["setting-forgotten"].message
    assert SUBNETS not in found["replaces-file-system"].message
