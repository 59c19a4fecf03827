"""What StorageStack is made of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stacks.matrix import MATRIX, Synthesize, Template, properties, resources

LUSTRE_PORTS = {(988, 988), (1018, 1023)}
every_row = pytest.mark.parametrize("row", MATRIX)


@pytest.fixture
def storage(synth: Synthesize) -> Template:
    return synth("default").templates["StorageStack"]


@every_row
def test_lustre_ports_are_open_both_ways_between_clients_and_servers_and_among_servers(
    row: str, synth: Synthesize
) -> None:
    template = synth(row).templates["StorageStack"]
    servers = group_of(template, "FSx for Lustre servers")
    clients = training_group(synth(row).templates["NetworkStack"])
    for sender, receiver in [(clients, servers), (servers, clients), (servers, servers)]:
        assert ports(template, sender=sender, receiver=receiver) == LUSTRE_PORTS


@every_row
def test_only_training_jobs_reach_efs_and_only_over_nfs(row: str, synth: Synthesize) -> None:
    template = synth(row).templates["StorageStack"]
    targets = group_of(template, "EFS mount targets")
    clients = training_group(synth(row).templates["NetworkStack"])
    assert ports(template, sender=clients, receiver=targets) == {(2049, 2049)}
    senders = [
        rule["SourceSecurityGroupId"]
        for rule in properties(template, "AWS::EC2::SecurityGroupIngress")
        if rule["GroupId"] == targets
    ]
    assert senders == [clients]


def test_bucket_is_encrypted_with_our_key_versioned_private_and_logged(storage: Template) -> None:
    [(log_bucket_id, _)] = unversioned_buckets(storage).items()
    [bucket] = [
        each for each in properties(storage, "AWS::S3::Bucket") if "VersioningConfiguration" in each
    ]
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == {
        "BucketKeyEnabled": True,
        "ServerSideEncryptionByDefault": {
            "KMSMasterKeyID": our_key(storage),
            "SSEAlgorithm": "aws:kms",
        },
    }
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["LoggingConfiguration"] == {"DestinationBucketName": {"Ref": log_bucket_id}}
    [rule] = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert "ExpirationInDays" not in rule


def test_every_bucket_blocks_public_access_and_refuses_plain_http(storage: Template) -> None:
    refused = {
        policy["Bucket"]["Ref"]
        for policy in properties(storage, "AWS::S3::BucketPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        and statement["Action"] == "s3:*"
    }
    assert refused == set(resources(storage, "AWS::S3::Bucket"))
    for bucket in properties(storage, "AWS::S3::Bucket"):
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(bucket["PublicAccessBlockConfiguration"]) == 4


@every_row
def test_efs_is_encrypted_and_has_a_mount_target_in_each_private_subnet(
    row: str, synth: Synthesize
) -> None:
    template = synth(row).templates["StorageStack"]
    [file_system] = properties(template, "AWS::EFS::FileSystem")
    assert file_system["Encrypted"] is True
    assert file_system["KmsKeyId"] == our_key(template)
    assert file_system["ThroughputMode"] == "elastic"
    subnets = [each["SubnetId"] for each in properties(template, "AWS::EFS::MountTarget")]
    assert len({str(each) for each in subnets}) == 3
    assert set(map(str, subnets)) == set(
        map(str, imported_private_subnets(synth(row).templates["NetworkStack"]))
    )


@every_row
def test_efs_policy_if_any_lets_clients_mount_without_tls_and_access_point(
    row: str, synth: Synthesize
) -> None:
    """SageMaker mounts so; CDK's default policy does not grant ClientMount (aws/aws-cdk#36224)."""
    [file_system] = properties(synth(row).templates["StorageStack"], "AWS::EFS::FileSystem")
    policy = file_system.get("FileSystemPolicy")
    if policy is not None:
        allowed = [each for each in policy["Statement"] if each["Effect"] == "Allow"]
        assert any("elasticfilesystem:ClientMount" in each["Action"] for each in allowed)
        assert "aws:SecureTransport" not in str(policy)
        assert "AccessPointArn" not in str(policy)


def test_lustre_is_persistent_encrypted_and_follows_the_bucket_both_ways(
    storage: Template,
) -> None:
    [(file_system_id, resource)] = resources(storage, "AWS::FSx::FileSystem").items()
    file_system = resource["Properties"]
    assert file_system["KmsKeyId"] == our_key(storage)
    assert file_system["StorageCapacity"] == 1200
    assert file_system["LustreConfiguration"] == {
        "DataCompressionType": "LZ4",
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
    }
    [association] = properties(storage, "AWS::FSx::DataRepositoryAssociation")
    assert association["FileSystemId"] == {"Ref": file_system_id}
    assert association["FileSystemPath"] == "/data"
    assert association["BatchImportMetaDataOnCreate"] is True
    events = {"Events": ["NEW", "CHANGED", "DELETED"]}
    assert association["S3"] == {"AutoImportPolicy": events, "AutoExportPolicy": events}


def test_lustre_options_follow_the_settings(synth: Synthesize) -> None:
    template = synth("everything-set").templates["StorageStack"]
    [resource] = resources(template, "AWS::FSx::FileSystem").values()
    assert resource["Properties"]["LustreConfiguration"] == {
        "DataCompressionType": "NONE",
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 500,
    }
    third = imported_private_subnets(synth("everything-set").templates["NetworkStack"])[2]
    assert resource["Properties"]["SubnetIds"] == [third]
    assert template["Outputs"]["FsxSubnetId"]["Value"] == third
    assert template["Outputs"]["FsxDataPath"]["Value"] == "/coco/linked"


@pytest.mark.parametrize("row", ["scratch", "import-path"])
def test_scratch_takes_neither_throughput_nor_a_key_of_ours(row: str, synth: Synthesize) -> None:
    [file_system] = properties(synth(row).templates["StorageStack"], "AWS::FSx::FileSystem")
    assert file_system["LustreConfiguration"]["DeploymentType"] == "SCRATCH_2"
    assert "PerUnitStorageThroughput" not in file_system["LustreConfiguration"]
    assert "KmsKeyId" not in file_system


@every_row
def test_lustre_is_linked_to_the_bucket_in_exactly_one_way(row: str, synth: Synthesize) -> None:
    template = synth(row).templates["StorageStack"]
    [file_system] = properties(template, "AWS::FSx::FileSystem")
    associations = resources(template, "AWS::FSx::DataRepositoryAssociation")
    has_import_path = "ImportPath" in file_system["LustreConfiguration"]
    assert has_import_path == (row == "import-path")
    assert len(associations) == (0 if has_import_path else 1)


def test_with_import_path_the_whole_file_system_follows_the_bucket(synth: Synthesize) -> None:
    template = synth("import-path").templates["StorageStack"]
    [file_system] = properties(template, "AWS::FSx::FileSystem")
    lustre = file_system["LustreConfiguration"]
    assert lustre["ImportPath"] == lustre["ExportPath"]
    assert lustre["AutoImportPolicy"] == "NEW_CHANGED_DELETED"
    assert template["Outputs"]["FsxDataPath"]["Value"] == "/"


@pytest.mark.parametrize(("row", "policy"), [("default", "Delete"), ("everything-set", "Retain")])
def test_lustre_goes_or_stays_with_its_association_as_set(
    row: str, policy: str, synth: Synthesize
) -> None:
    template = synth(row).templates["StorageStack"]
    for resource_type in ("AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"):
        [resource] = resources(template, resource_type).values()
        assert resource["DeletionPolicy"] == policy


def test_lustre_waits_for_the_rules_of_its_security_group(storage: Template) -> None:
    """FSx refuses a group without port 988 when it makes the file system."""
    [file_system] = resources(storage, "AWS::FSx::FileSystem").values()
    servers = group_of(storage, "FSx for Lustre servers")
    rules = {
        logical_id
        for resource_type in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
        for logical_id, rule in resources(storage, resource_type).items()
        if rule["Properties"]["GroupId"] == servers
    }
    assert rules
    assert rules <= set(file_system["DependsOn"])


def test_key_lets_the_role_that_fsx_makes_use_the_bucket(storage: Template) -> None:
    [key] = properties(storage, "AWS::KMS::Key")
    [statement] = [
        each for each in key["KeyPolicy"]["Statement"] if each["Principal"] == {"AWS": "*"}
    ]
    assert set(statement["Condition"]) == {"StringEquals", "ArnLike"}
    assert statement["Condition"]["StringEquals"]["kms:CallerAccount"] == {"Ref": "AWS::AccountId"}
    role = statement["Condition"]["ArnLike"]["aws:PrincipalArn"]["Fn::Join"][1][-1]
    assert role.endswith(
        ":role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
        "AWSServiceRoleForFSxS3Access_*"
    )


def group_of(template: Template, description: str) -> dict[str, Any]:
    """Return the reference to a security group's id."""
    [logical_id] = [
        logical_id
        for logical_id, group in resources(template, "AWS::EC2::SecurityGroup").items()
        if group["Properties"]["GroupDescription"] == description
    ]
    return {"Fn::GetAtt": [logical_id, "GroupId"]}


def training_group(network: Template) -> dict[str, Any]:
    """Return how StorageStack refers to the training security group."""
    return imported(network, network["Outputs"]["TrainingSecurityGroupId"]["Value"])


def imported_private_subnets(network: Template) -> list[dict[str, Any]]:
    """Return how StorageStack refers to the private subnets, in the order of their zones."""
    _, parts = network["Outputs"]["PrivateSubnetIds"]["Value"]["Fn::Join"]
    return [imported(network, part) for part in parts if part != ","]


def imported(network: Template, value: dict[str, Any]) -> dict[str, Any]:
    [name] = [
        output["Export"]["Name"]
        for output in network["Outputs"].values()
        if "Export" in output and output["Value"] == value
    ]
    return {"Fn::ImportValue": name}


def ports(
    template: Template, *, sender: dict[str, Any], receiver: dict[str, Any]
) -> set[tuple[int, int]]:
    """Return the TCP port ranges that the sender may send to and the receiver admits."""
    sent = {
        (rule["FromPort"], rule["ToPort"])
        for rule in properties(template, "AWS::EC2::SecurityGroupEgress")
        if rule["IpProtocol"] == "tcp"
        and (rule["GroupId"], rule["DestinationSecurityGroupId"]) == (sender, receiver)
    }
    admitted = {
        (rule["FromPort"], rule["ToPort"])
        for rule in properties(template, "AWS::EC2::SecurityGroupIngress")
        if rule["IpProtocol"] == "tcp"
        and (rule["GroupId"], rule["SourceSecurityGroupId"]) == (receiver, sender)
    }
    assert sent == admitted
    return sent


def our_key(template: Template) -> dict[str, Any]:
    [logical_id] = resources(template, "AWS::KMS::Key")
    return {"Fn::GetAtt": [logical_id, "Arn"]}


def unversioned_buckets(template: Template) -> dict[str, dict[str, Any]]:
    return {
        logical_id: bucket
        for logical_id, bucket in resources(template, "AWS::S3::Bucket").items()
        if "VersioningConfiguration" not in bucket["Properties"]
    }
