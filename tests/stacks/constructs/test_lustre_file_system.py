"""FSx for Lustre in StorageStack: what it is made of, and how it follows the bucket."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stacks.matrix import Template, properties, resources
from tests.stacks.storage_stack import (
    SUBNETS,
    TRAINING,
    ZONES,
    group_of,
    only,
    our_key,
    outputs,
    ports_admitted,
    ports_sent,
    storage_template,
)

LUSTRE = {("tcp", 988, 988), ("tcp", 1018, 1023)}
"""https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"""
EVERYTHING = {("-1", None, None)}
ALL_EVENTS = {"Events": ["NEW", "CHANGED", "DELETED"]}
IMPORT_PATH = {"fsx_deployment": "SCRATCH_2", "fsx_bucket_link": "import_path"}


def file_system(**context: str) -> dict[str, Any]:
    return only(storage_template(**context), "AWS::FSx::FileSystem")


def configuration(**context: str) -> dict[str, Any]:
    found: dict[str, Any] = file_system(**context)["LustreConfiguration"]
    return found


def test_it_is_persistent_compressed_and_encrypted_with_our_key() -> None:
    template = storage_template()
    made = only(template, "AWS::FSx::FileSystem")
    assert made["KmsKeyId"] == our_key(template)
    assert (made["StorageType"], made["StorageCapacity"]) == ("SSD", 1200)
    assert made["FileSystemTypeVersion"] == "2.15"
    assert file_system(fsx_lustre_version="2.12")["FileSystemTypeVersion"] == "2.12"
    assert made["LustreConfiguration"] == {
        "DataCompressionType": "LZ4",
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
    }


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"fsx_throughput_mbps_per_tib": "500"}, {"PerUnitStorageThroughput": 500}),
        ({"fsx_compression": "NONE"}, {"DataCompressionType": "NONE"}),
        (
            {"fsx_deployment": "PERSISTENT_1"},
            {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50},
        ),
        (
            {"fsx_metadata_iops": "12000"},
            {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000}},
        ),
    ],
)
def test_options_follow_the_settings(context: dict[str, str], expected: dict[str, Any]) -> None:
    assert expected.items() <= configuration(**context).items()


def test_scratch_takes_neither_throughput_nor_a_key_of_ours() -> None:
    made = file_system(fsx_deployment="SCRATCH_2")
    assert "KmsKeyId" not in made
    assert "PerUnitStorageThroughput" not in made["LustreConfiguration"]
    assert "KmsKeyId" in file_system(fsx_deployment="PERSISTENT_1")


@pytest.mark.parametrize("zone", [1, 3])
def test_it_is_in_one_zone_which_the_contract_names(zone: int) -> None:
    template = storage_template(fsx_zone=str(zone))
    assert only(template, "AWS::FSx::FileSystem")["SubnetIds"] == [SUBNETS[zone - 1]]
    assert outputs(template)["FsxSubnetId"] == SUBNETS[zone - 1]
    assert outputs(template)["FsxAvailabilityZone"] == ZONES[zone - 1]


@pytest.mark.parametrize("context", [{}, {"fsx_deployment": "SCRATCH_2"}, IMPORT_PATH])
def test_ports_are_open_both_ways_between_clients_and_servers_and_among_servers(
    context: dict[str, str],
) -> None:
    template = storage_template(**context)
    servers = group_of(template, "FSx for Lustre servers")
    for sender, receiver in [(TRAINING, servers), (servers, TRAINING), (servers, servers)]:
        assert ports_sent(template, sender=sender, receiver=receiver) == LUSTRE
        assert ports_admitted(template, sender=sender, receiver=receiver) == LUSTRE


def test_efa_opens_everything_on_the_same_ways_and_comes_with_metadata() -> None:
    template = storage_template(
        fsx_efa="true", fsx_throughput_mbps_per_tib="1000", fsx_capacity_gib="4800"
    )
    lustre = only(template, "AWS::FSx::FileSystem")["LustreConfiguration"]
    assert lustre["EfaEnabled"] is True
    assert lustre["MetadataConfiguration"] == {"Mode": "AUTOMATIC"}
    servers = group_of(template, "FSx for Lustre servers")
    for sender, receiver in [(TRAINING, servers), (servers, TRAINING), (servers, servers)]:
        assert ports_sent(template, sender=sender, receiver=receiver) > EVERYTHING
        assert ports_admitted(template, sender=sender, receiver=receiver) > EVERYTHING


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"fsx_efa": "true", "fsx_throughput_mbps_per_tib": "1000", "fsx_capacity_gib": "4800"},
    ],
)
def test_it_waits_for_all_rules_of_its_security_group(context: dict[str, str]) -> None:
    """FSx refuses a group without port 988 when it makes the file system."""
    template = storage_template(**context)
    [made] = resources(template, "AWS::FSx::FileSystem").values()
    servers = group_of(template, "FSx for Lustre servers")
    rules = {
        logical_id
        for resource_type in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
        for logical_id, rule in resources(template, resource_type).items()
        if rule["Properties"]["GroupId"] == servers
    }
    assert rules
    assert rules <= set(made["DependsOn"])


def test_an_association_follows_the_bucket_both_ways() -> None:
    template = storage_template()
    [file_system_id] = resources(template, "AWS::FSx::FileSystem")
    association = only(template, "AWS::FSx::DataRepositoryAssociation")
    assert association["FileSystemId"] == {"Ref": file_system_id}
    assert association["FileSystemPath"] == "/data"
    assert association["DataRepositoryPath"] == s3(template)
    assert association["BatchImportMetaDataOnCreate"] is True
    assert association["S3"] == {"AutoImportPolicy": ALL_EVENTS, "AutoExportPolicy": ALL_EVENTS}
    assert outputs(template)["FsxDataPath"] == "/data"


def test_an_association_follows_what_is_chosen() -> None:
    template = storage_template(
        bucket_prefix="ml-platform",
        fsx_data_path="/coco/linked",
        fsx_import_events="NEW,CHANGED",
        fsx_export_events="none",
    )
    association = only(template, "AWS::FSx::DataRepositoryAssociation")
    assert association["FileSystemPath"] == "/coco/linked"
    assert association["DataRepositoryPath"] == s3(template, "/ml-platform/")
    assert association["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert outputs(template)["FsxDataPath"] == "/coco/linked"
    assert outputs(template)["BucketPrefix"] == "ml-platform"


@pytest.mark.parametrize(
    ("prefix", "import_from", "data_path"),
    [
        ("", "", "/"),
        ("ml-platform", "/ml-platform/", "/ml-platform"),
        ("mask-rcnn/sagemaker", "/mask-rcnn/sagemaker/", "/mask-rcnn/sagemaker"),
    ],
)
def test_import_path_shows_the_prefix_below_the_root_and_exports_to_the_same_place(
    prefix: str, import_from: str, data_path: str
) -> None:
    template = storage_template(**IMPORT_PATH, bucket_prefix=prefix)
    lustre = only(template, "AWS::FSx::FileSystem")["LustreConfiguration"]
    assert lustre["ImportPath"] == s3(template, import_from)
    assert lustre["ExportPath"] == s3(template)
    assert lustre["AutoImportPolicy"] == "NEW_CHANGED_DELETED"
    assert outputs(template)["FsxDataPath"] == data_path


@pytest.mark.parametrize(
    ("events", "policy"), [("none", "NONE"), ("NEW", "NEW"), ("NEW,CHANGED", "NEW_CHANGED")]
)
def test_import_path_follows_what_is_chosen(events: str, policy: str) -> None:
    lustre = configuration(**IMPORT_PATH, fsx_import_events=events)
    assert lustre["AutoImportPolicy"] == policy


@pytest.mark.parametrize(
    "context",
    [{}, {"fsx_deployment": "SCRATCH_2"}, IMPORT_PATH, {"fsx_bucket_link": "none"}],
)
def test_it_is_never_linked_both_ways_at_once(context: dict[str, str]) -> None:
    template = storage_template(**context)
    associations = len(properties(template, "AWS::FSx::DataRepositoryAssociation"))
    paths = sum("Path" in key for key in configuration(**context))
    link = context.get("fsx_bucket_link", "association")
    assert (associations, paths) == {
        "association": (1, 0),
        "import_path": (0, 2),
        "none": (0, 0),
    }[link]


@pytest.mark.parametrize(
    ("removal", "policy"), [("destroy", "Delete"), ("retain", "RetainExceptOnCreate")]
)
def test_it_goes_or_stays_with_its_association_as_set(removal: str, policy: str) -> None:
    template = storage_template(fsx_removal=removal)
    for resource_type in ("AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"):
        [resource] = resources(template, resource_type).values()
        assert resource["DeletionPolicy"] == policy


@pytest.mark.parametrize("efa", ["false", "true"])
def test_the_group_of_a_file_system_that_stays_stays_with_what_its_servers_need(efa: str) -> None:
    size = {"fsx_capacity_gib": "4800", "fsx_throughput_mbps_per_tib": "1000"}
    template = storage_template(fsx_removal="retain", fsx_efa=efa, **size)
    groups = resources(template, "AWS::EC2::SecurityGroup")
    [servers] = [
        name
        for name, group in groups.items()
        if "Lustre" in group["Properties"]["GroupDescription"]
    ]
    assert groups[servers]["DeletionPolicy"] == "RetainExceptOnCreate"
    itself = {"Fn::GetAtt": [servers, "GroupId"]}
    for direction, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "Destination")):
        rules = resources(template, f"AWS::EC2::SecurityGroup{direction}").values()
        kept = [rule for rule in rules if rule.get("DeletionPolicy") == "RetainExceptOnCreate"]
        among = [
            rule
            for rule in rules
            if rule["Properties"]["GroupId"] == itself
            and itself in (value for key, value in rule["Properties"].items() if peer in key)
        ]
        assert kept == among
        assert len(kept) == (3 if efa == "true" else 2)


def s3(template: Template, path: str = "") -> dict[str, Any]:
    """Return `s3://<our bucket><path>` as the template writes it."""
    bucket = outputs(template)["BucketName"]
    return {"Fn::Join": ["", ["s3://", bucket, path] if path else ["s3://", bucket]]}
