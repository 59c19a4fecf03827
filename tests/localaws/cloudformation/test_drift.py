"""Drift: what the services show, beside what a template says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from localaws.cloudformation.drift import Difference, differences
from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}


def of(kind: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::{kind}", "Properties": properties}


ref = {name: {"Ref": name} for name in ("Vpc", "Subnet", "Group", "Table", "Shared", "Role")}

RESOURCES: Resources = {
    "Vpc": of("EC2::VPC", CidrBlock="10.0.0.0/24", EnableDnsHostnames=True),
    "Subnet": of("EC2::Subnet", VpcId=ref["Vpc"], CidrBlock="10.0.0.0/25"),
    "Table": of("EC2::RouteTable", VpcId=ref["Vpc"]),
    "Internet": of("EC2::InternetGateway"),
    "Attachment": of(
        "EC2::VPCGatewayAttachment", VpcId=ref["Vpc"], InternetGatewayId={"Ref": "Internet"}
    ),
    "Route": {
        **of(
            "EC2::Route",
            RouteTableId=ref["Table"],
            DestinationCidrBlock="0.0.0.0/0",
            GatewayId={"Ref": "Internet"},
        ),
        "DependsOn": "Attachment",
    },
    "Address": of("EC2::EIP", Domain="vpc"),
    "Nat": of(
        "EC2::NatGateway",
        SubnetId=ref["Subnet"],
        AllocationId={"Fn::GetAtt": ["Address", "AllocationId"]},
    ),
    "Group": of("EC2::SecurityGroup", GroupDescription="Jobs", VpcId=ref["Vpc"]),
    "Rule": of(
        "EC2::SecurityGroupIngress",
        GroupId=ref["Group"],
        SourceSecurityGroupId=ref["Group"],
        IpProtocol="tcp",
        FromPort=988,
        ToPort=988,
        Description="Lustre",
    ),
    "Endpoint": of(
        "EC2::VPCEndpoint",
        VpcId=ref["Vpc"],
        ServiceName="com.amazonaws.us-east-1.logs",
        VpcEndpointType="Interface",
        SubnetIds=[ref["Subnet"]],
        SecurityGroupIds=[ref["Group"]],
        PrivateDnsEnabled=True,
    ),
    "Bucket": of(
        "S3::Bucket",
        VersioningConfiguration={"Status": "Enabled"},
        PublicAccessBlockConfiguration={"BlockPublicAcls": True},
    ),
    "Key": of("KMS::Key", Description="mine", EnableKeyRotation=True),
    "Role": of("IAM::Role", AssumeRolePolicyDocument=TRUST, MaxSessionDuration=7200, Path="/ml/"),
    "Policy": of("IAM::ManagedPolicy", PolicyDocument=POLICY, Roles=[ref["Role"]]),
    "Logs": of("Logs::LogGroup", RetentionInDays=30),
    "Images": of(
        "ECR::Repository",
        ImageTagMutability="IMMUTABLE",
        ImageScanningConfiguration={"ScanOnPush": True},
    ),
    "Shared": of(
        "EFS::FileSystem",
        ThroughputMode="elastic",
        Encrypted=True,
        BackupPolicy={"Status": "ENABLED"},
        FileSystemPolicy=POLICY,
        LifecyclePolicies=[{"TransitionToIA": "AFTER_30_DAYS"}],
    ),
    "Target": of(
        "EFS::MountTarget",
        FileSystemId=ref["Shared"],
        SubnetId=ref["Subnet"],
        SecurityGroups=[ref["Group"]],
    ),
    "Fast": of(
        "FSx::FileSystem",
        FileSystemType="LUSTRE",
        # CDK writes it as a number, people as a string too.
        StorageCapacity="1200",
        SubnetIds=[ref["Subnet"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
    ),
    "Link": of(
        "FSx::DataRepositoryAssociation",
        FileSystemId={"Ref": "Fast"},
        FileSystemPath="/data",
        DataRepositoryPath={"Fn::Sub": "s3://${Bucket}/in"},
        S3={"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}},
    ),
    "Scripts": of("SageMaker::NotebookInstanceLifecycleConfig", OnStart=[{"Content": "ZWNobwo="}]),
    "Code": of(
        "SageMaker::CodeRepository", GitConfig={"RepositoryUrl": "https://git.example.com/a"}
    ),
    "Notebook": of(
        "SageMaker::NotebookInstance",
        InstanceType="ml.m5.2xlarge",
        RoleArn={"Fn::GetAtt": ["Role", "Arn"]},
        SubnetId=ref["Subnet"],
        SecurityGroupIds=[ref["Group"]],
        DirectInternetAccess="Disabled",
        RootAccess="Disabled",
        LifecycleConfigName={"Fn::GetAtt": ["Scripts", "NotebookInstanceLifecycleConfigName"]},
    ),
}


def detect(stack: Stack) -> dict[str, Any]:
    client = stack.cloudformation
    detection_id = client.detect_stack_drift(StackName=stack.name)["StackDriftDetectionId"]
    outcome: dict[str, Any] = client.describe_stack_drift_detection_status(
        StackDriftDetectionId=detection_id
    )
    assert outcome["DetectionStatus"] == "DETECTION_COMPLETE"
    return outcome


def drifts(stack: Stack, *statuses: str) -> dict[str, dict[str, Any]]:
    """Return the resources of these statuses, or all, by logical id."""
    filters = {"StackResourceDriftStatusFilters": statuses} if statuses else {}
    found = stack.cloudformation.describe_stack_resource_drifts(StackName=stack.name, **filters)[
        "StackResourceDrifts"
    ]
    return {each["LogicalResourceId"]: each for each in found}


def test_stack_is_in_sync_until_a_service_is_changed_behind_its_back(
    local_aws: LocalAws, stack: Stack
) -> None:
    made = stack.create(RESOURCES, arguments={"Tags": [{"Key": "team", "Value": "vision"}]})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    outcome = detect(stack)
    assert drifts(stack, "MODIFIED", "DELETED") == {}
    assert (outcome["StackDriftStatus"], outcome["DriftedStackResourceCount"]) == ("IN_SYNC", 0)
    assert drifts(stack, "NOT_CHECKED").keys() == {"Attachment"}
    assert drifts(stack).keys() == RESOURCES.keys()

    ids = stack.ids()
    local_aws.client("s3").put_bucket_versioning(
        Bucket=ids["Bucket"], VersioningConfiguration={"Status": "Suspended"}
    )
    local_aws.client("ec2").delete_tags(Resources=[ids["Vpc"]], Tags=[{"Key": "team"}])
    local_aws.client("logs").delete_retention_policy(logGroupName=ids["Logs"])
    local_aws.client("efs").delete_mount_target(MountTargetId=ids["Target"])
    name = ids["Scripts"].split("/")[-1]
    local_aws.client("sagemaker").delete_notebook_instance_lifecycle_config(
        NotebookInstanceLifecycleConfigName=name
    )
    outcome = detect(stack)
    assert (outcome["StackDriftStatus"], outcome["DriftedStackResourceCount"]) == ("DRIFTED", 5)
    assert drifts(stack, "DELETED").keys() == {"Target", "Scripts"}
    modified = drifts(stack, "MODIFIED")
    assert modified.keys() == {"Bucket", "Vpc", "Logs"}
    assert modified["Bucket"]["PropertyDifferences"] == [
        {
            "PropertyPath": "/VersioningConfiguration/Status",
            "ExpectedValue": "Enabled",
            "ActualValue": "Suspended",
            "DifferenceType": "NOT_EQUAL",
        }
    ]
    (retention,) = modified["Logs"]["PropertyDifferences"]
    assert (retention["ExpectedValue"], retention["DifferenceType"]) == ("30", "REMOVE")
    (tags,) = modified["Vpc"]["PropertyDifferences"]
    assert json.loads(tags["ExpectedValue"]) == [{"Key": "team", "Value": "vision"}]
    # What is gone already does not hold up the rest.
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        stack.describe()


def test_unknown_detection_is_refused(stack: Stack) -> None:
    with pytest.raises(ClientError, match=r"Drift detection \[x\] does not exist"):
        stack.cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId="x")


@pytest.mark.parametrize(
    ("expected", "actual", "paths"),
    [
        ({"A": 1}, {"A": "1", "B": 2}, []),
        ({"A": "true"}, {"A": True}, []),
        ({"A": 100}, {"A": 100.0}, []),
        ({"A": 100}, {"A": 100.5}, ["/A"]),
        ({"A": [{"K": "b"}, {"K": "a"}]}, {"A": [{"K": "a"}, {"K": "b"}]}, []),
        ({"A": {"B": 1, "C": 2}}, {"A": {"B": 1, "C": 3, "D": 4}}, ["/A/C"]),
        ({"A": {"B": 1}}, {}, ["/A"]),
        ({"A": [1]}, {"A": [1, 2]}, ["/A"]),
    ],
)
def test_only_what_the_template_sets_is_compared(
    expected: dict[str, Any], actual: dict[str, Any], paths: list[str]
) -> None:
    assert [each.path for each in differences(expected, actual)] == paths


def test_missing_value_reads_as_removed() -> None:
    assert Difference("/A", 1, None).to_dict()["DifferenceType"] == "REMOVE"
