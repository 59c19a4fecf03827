"""StorageStack: bucket and key, and what there is of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stacks.matrix import Synthesize, Template, properties, resources
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

KEY = "arn:aws:kms:us-west-2:123456789012:key/12345678-1234-1234-1234-123456789012"
LUSTRE = {("tcp", 988, 988), ("tcp", 1018, 1023)}
FSX = "fs-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def test_groups_of_two_stacks_let_each_other_in_both_ways(synth: Synthesize) -> None:
    network = synth("default").templates["NetworkStack"]
    storage = synth("default").templates["StorageStack"]
    clients = training_group(network)
    servers = group_of(storage, "FSx for Lustre servers")
    targets = group_of(storage, "EFS mount targets")
    for sender, receiver in [(clients, servers), (servers, clients)]:
        assert ports_sent(storage, sender=sender, receiver=receiver) == LUSTRE
        assert ports_admitted(storage, sender=sender, receiver=receiver) == LUSTRE
    assert ports_sent(storage, sender=clients, receiver=targets) == {("tcp", 2049, 2049)}
    assert ports_admitted(storage, sender=clients, receiver=targets) == {("tcp", 2049, 2049)}


def test_bucket_is_encrypted_with_our_key_versioned_and_logged() -> None:
    template = storage_template()
    bucket = data_bucket(template)
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == {
        "BucketKeyEnabled": True,
        "ServerSideEncryptionByDefault": {
            "KMSMasterKeyID": our_key(template),
            "SSEAlgorithm": "aws:kms",
        },
    }
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    [logs] = log_buckets(template)
    assert bucket["LoggingConfiguration"] == {"DestinationBucketName": {"Ref": logs}}


def test_every_bucket_blocks_public_access_and_refuses_plain_http() -> None:
    template = storage_template()
    refused = {
        policy["Bucket"]["Ref"]
        for policy in properties(template, "AWS::S3::BucketPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        and statement["Action"] == "s3:*"
    }
    assert refused == set(resources(template, "AWS::S3::Bucket"))
    for bucket in properties(template, "AWS::S3::Bucket"):
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(bucket["PublicAccessBlockConfiguration"]) == 4


def test_the_bucket_forgets_as_set_but_never_what_is_current() -> None:
    template = storage_template(
        bucket_incomplete_upload_days="3",
        bucket_old_version_days="30",
        bucket_access_log_days="400",
    )
    [rule] = data_bucket(template)["LifecycleConfiguration"]["Rules"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 3}
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert "ExpirationInDays" not in rule
    [logs] = log_buckets(template).values()
    assert logs["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == 400


def test_access_logs_may_go_to_an_existing_bucket_or_nowhere() -> None:
    elsewhere = storage_template(bucket_access_logs="our-logs")
    assert data_bucket(elsewhere)["LoggingConfiguration"] == {"DestinationBucketName": "our-logs"}
    nowhere = storage_template(bucket_access_logs="none")
    assert "LoggingConfiguration" not in data_bucket(nowhere)
    for template in (elsewhere, nowhere):
        assert log_buckets(template) == {}


def test_an_existing_bucket_is_used_and_nothing_of_it_is_changed() -> None:
    template = storage_template(bucket_name="their-data", bucket_prefix="ml-platform")
    assert not [
        each for each in template["Resources"].values() if each["Type"].startswith("AWS::S3::")
    ]
    association = only(template, "AWS::FSx::DataRepositoryAssociation")
    assert association["DataRepositoryPath"] == "s3://their-data/ml-platform/"
    assert outputs(template)["BucketName"] == "their-data"
    assert outputs(template)["BucketPrefix"] == "ml-platform"


def test_without_a_prefix_none_is_told() -> None:
    assert "BucketPrefix" not in outputs(storage_template())


def test_an_existing_key_takes_the_place_of_ours() -> None:
    template = storage_template(encryption_key_arn=KEY)
    assert resources(template, "AWS::KMS::Key") == {}
    assert only(template, "AWS::EFS::FileSystem")["KmsKeyId"] == KEY
    assert only(template, "AWS::FSx::FileSystem")["KmsKeyId"] == KEY
    [encryption] = data_bucket(template)["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == KEY
    assert outputs(template)["EncryptionKeyArn"] == KEY


def test_file_systems_have_a_key_of_ours_where_the_bucket_has_its_own() -> None:
    template = storage_template(bucket_name="their-data", bucket_encryption_key_arn=KEY)
    assert only(template, "AWS::EFS::FileSystem")["KmsKeyId"] == our_key(template)
    assert outputs(template)["EncryptionKeyArn"] == our_key(template)


def test_the_key_lets_the_roles_that_fsx_makes_use_the_bucket_in_every_partition() -> None:
    [statement] = statements_for_anyone(storage_template())
    role = statement["Condition"]["ArnLike"]["aws:PrincipalArn"]["Fn::Join"][1]
    assert role == [
        "arn:",
        {"Ref": "AWS::Partition"},
        ":iam::",
        {"Ref": "AWS::AccountId"},
        ":role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
        "AWSServiceRoleForFSxS3Access_*",
    ]
    assert statement["Condition"]["StringEquals"] == {
        "kms:CallerAccount": {"Ref": "AWS::AccountId"},
        "kms:ViaService": {
            "Fn::Join": ["", ["s3.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
        },
    }


@pytest.mark.parametrize(
    "context", [{"fsx": "none"}, {"fsx_bucket_link": "none"}, {"bucket_name": "their-data"}]
)
def test_the_key_is_closed_to_fsx_where_no_bucket_under_it_is_linked(
    context: dict[str, str],
) -> None:
    assert statements_for_anyone(storage_template(**context)) == []


def test_without_fsx_nothing_of_it_is_made_or_told() -> None:
    template = storage_template(fsx="none")
    assert not [each for each in template["Resources"].values() if "::FSx::" in each["Type"]]
    assert "Lustre" not in str(template)
    assert not [key for key in outputs(template) if key.startswith("Fsx")]


def test_an_existing_fsx_is_told_whole_and_not_changed() -> None:
    template = with_existing_fsx(fsx_zone="2")
    assert not [each for each in template["Resources"].values() if "::FSx::" in each["Type"]]
    told = {key: value for key, value in outputs(template).items() if key.startswith("Fsx")}
    suffix = [f"{FSX}.fsx.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]
    assert told == {
        "FsxId": FSX,
        "FsxMountName": "abcdefgh",
        "FsxDnsName": {"Fn::Join": ["", suffix]},
        "FsxSubnetId": SUBNETS[1],
        "FsxAvailabilityZone": ZONES[1],
        "FsxSecurityGroupId": GROUP,
        "FsxDataPath": "/",
    }


def test_the_servers_of_an_existing_fsx_and_training_jobs_let_each_other_in() -> None:
    template = with_existing_fsx()
    for sender, receiver in [(TRAINING, GROUP), (GROUP, TRAINING)]:
        assert ports_sent(template, sender=sender, receiver=receiver) == LUSTRE
        assert ports_admitted(template, sender=sender, receiver=receiver) == LUSTRE
    assert ports_admitted(template, sender=GROUP, receiver=GROUP) == set()


def test_the_group_of_an_existing_fsx_is_left_alone_where_it_has_its_rules() -> None:
    template = with_existing_fsx(fsx_security_group_rules="existing")
    assert ports_admitted(template, sender=TRAINING, receiver=GROUP) == set()
    assert ports_sent(template, sender=GROUP, receiver=TRAINING) == set()
    assert ports_sent(template, sender=TRAINING, receiver=GROUP) == LUSTRE
    assert ports_admitted(template, sender=GROUP, receiver=TRAINING) == LUSTRE


def test_no_rule_is_added_to_groups_of_others_that_have_theirs(synth: Synthesize) -> None:
    template = synth("nothing-new").templates["StorageStack"]
    assert not [each for each in template["Resources"].values() if "::EC2::" in each["Type"]]


def with_existing_fsx(**context: str) -> Template:
    return storage_template(
        fsx_id=FSX, fsx_mount_name="abcdefgh", fsx_security_group_id=GROUP, **context
    )


def training_group(network: Template) -> dict[str, Any]:
    """Return how StorageStack refers to the training security group."""
    group = network["Outputs"]["TrainingSecurityGroupId"]["Value"]
    [name] = [
        key
        for key, output in network["Outputs"].items()
        if output["Value"] == group and key != "TrainingSecurityGroupId"
    ]
    return {
        "Fn::GetStackOutput": {
            "StackName": "NetworkStack",
            "Region": {"Ref": "AWS::Region"},
            "OutputName": name,
        }
    }


def data_bucket(template: Template) -> dict[str, Any]:
    [bucket] = [
        each
        for each in properties(template, "AWS::S3::Bucket")
        if "VersioningConfiguration" in each
    ]
    return bucket


def log_buckets(template: Template) -> dict[str, dict[str, Any]]:
    """Return logical id to properties."""
    return {
        logical_id: bucket["Properties"]
        for logical_id, bucket in resources(template, "AWS::S3::Bucket").items()
        if "VersioningConfiguration" not in bucket["Properties"]
    }


def statements_for_anyone(template: Template) -> list[dict[str, Any]]:
    key = only(template, "AWS::KMS::Key")
    return [each for each in key["KeyPolicy"]["Statement"] if each["Principal"] == {"AWS": "*"}]
