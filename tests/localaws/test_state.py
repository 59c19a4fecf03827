"""Kept state: what comes back at the next start."""

from __future__ import annotations

import copy
import io
import json
import pickle
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import backends
from moto.core import DEFAULT_ACCOUNT_ID

from localaws import state
from localaws.machine_images import IMAGES
from tests.conftest import LocalAws, running_local_aws

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
READ = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}

TEMPLATE = {
    "Resources": {
        "Key": {"Type": "AWS::KMS::Key", "Properties": {"Description": "mine"}},
        "Bucket": {
            "Type": "AWS::S3::Bucket",
            "Properties": {"VersioningConfiguration": {"Status": "Enabled"}},
        },
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            # Some zones have no g5.xlarge.
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": "10.0.0.0/24",
                "AvailabilityZone": "us-east-1a",
            },
        },
        "Shared": {"Type": "AWS::EFS::FileSystem"},
        "Target": {
            "Type": "AWS::EFS::MountTarget",
            "Properties": {
                "FileSystemId": {"Ref": "Shared"},
                "SubnetId": {"Ref": "Subnet"},
                "SecurityGroups": [{"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}],
            },
        },
        "Fast": {
            "Type": "AWS::FSx::FileSystem",
            "Properties": {
                "FileSystemType": "LUSTRE",
                "StorageCapacity": 1200,
                "SubnetIds": [{"Ref": "Subnet"}],
                "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
            },
        },
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}},
        "Policy": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": READ, "Roles": [{"Ref": "Role"}]},
        },
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "Jobs", "VpcId": {"Ref": "Vpc"}},
        },
        "Rule": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {
                "GroupId": {"Ref": "Group"},
                "SourceSecurityGroupId": {"Ref": "Group"},
                "IpProtocol": "tcp",
                "FromPort": 988,
                "ToPort": 988,
                "Description": "Lustre",
            },
        },
        "Endpoint": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "ServiceName": "com.amazonaws.us-east-1.logs",
                "VpcEndpointType": "Interface",
                "SubnetIds": [{"Ref": "Subnet"}],
            },
        },
        "Scripts": {
            "Type": "AWS::SageMaker::NotebookInstanceLifecycleConfig",
            "Properties": {"OnStart": [{"Content": "ZWNobwo="}]},
        },
        "Code": {
            "Type": "AWS::SageMaker::CodeRepository",
            "Properties": {"GitConfig": {"RepositoryUrl": "https://git.example.com/a.git"}},
        },
        "Notebook": {
            "Type": "AWS::SageMaker::NotebookInstance",
            "Properties": {
                "InstanceType": "ml.m5.2xlarge",
                "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                "SubnetId": {"Ref": "Subnet"},
                "LifecycleConfigName": {
                    "Fn::GetAtt": ["Scripts", "NotebookInstanceLifecycleConfigName"]
                },
                "DefaultCodeRepository": {"Fn::GetAtt": ["Code", "CodeRepositoryName"]},
            },
        },
        "Link": {
            "Type": "AWS::FSx::DataRepositoryAssociation",
            "Properties": {
                "FileSystemId": {"Ref": "Fast"},
                "FileSystemPath": "/data",
                "DataRepositoryPath": {"Fn::Sub": "s3://${Bucket}/in"},
                "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}},
            },
        },
        "Close": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}},
        "Template": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {
                "LaunchTemplateData": {
                    "ImageId": IMAGES[0].id_in("us-east-1"),
                    "InstanceType": "g5.xlarge",
                    "Placement": {"GroupName": {"Ref": "Close"}},
                    "UserData": "ZWNobwo=",
                }
            },
        },
        "Workers": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {
                "MinSize": "1",
                "MaxSize": "2",
                "VPCZoneIdentifier": [{"Ref": "Subnet"}],
                "LaunchTemplate": {
                    "LaunchTemplateId": {"Ref": "Template"},
                    "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
            },
        },
    },
    "Outputs": {
        name: {"Value": {"Ref": name}}
        for name in ("Key", "Bucket", "Shared", "Fast", "Link", "Workers")
    },
}


def check_group_keeps_its_size(aws: LocalAws, name: str) -> None:
    def ids() -> list[str]:
        found = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        return [each["InstanceId"] for each in found["AutoScalingGroups"][0]["Instances"]]

    (old,) = ids()
    aws.client("ec2").terminate_instances(InstanceIds=[old])
    (new,) = ids()
    assert new != old


def test_stacks_objects_and_file_systems_come_back_and_still_work(tmp_path: Path) -> None:
    with running_local_aws(tmp_path) as first:
        cloudformation = first.client("cloudformation")
        cloudformation.create_stack(
            StackName="One",
            TemplateBody=json.dumps(TEMPLATE),
            EnableTerminationProtection=True,
            Tags=[{"Key": "team", "Value": "vision"}],
        )
        before = cloudformation.describe_stacks(StackName="One")["Stacks"][0]
        assert before["StackStatus"] == "CREATE_COMPLETE", before.get("StackStatusReason")
        ids = {each["OutputKey"]: each["OutputValue"] for each in before["Outputs"]}
        old = first.client("s3").put_object(Bucket=ids["Bucket"], Key="in/a", Body=b"old")
        first.client("s3").put_object(Bucket=ids["Bucket"], Key="in/a", Body=b"new")
        secret = first.client("kms").encrypt(KeyId=ids["Key"], Plaintext=b"hidden")
    with running_local_aws(tmp_path) as second:
        after = second.client("cloudformation").describe_stacks(StackName="One")["Stacks"][0]
        assert after == before
        s3 = second.client("s3")
        assert s3.get_object(Bucket=ids["Bucket"], Key="in/a")["Body"].read() == b"new"
        check_group_keeps_its_size(second, ids["Workers"])
        versioned = s3.get_object(Bucket=ids["Bucket"], Key="in/a", VersionId=old["VersionId"])
        assert versioned["Body"].read() == b"old"
        opened = second.client("kms").decrypt(CiphertextBlob=secret["CiphertextBlob"])
        assert opened["Plaintext"] == b"hidden"
        fast = second.client("fsx").describe_file_systems(FileSystemIds=[ids["Fast"]])
        assert fast["FileSystems"][0]["Lifecycle"] == "AVAILABLE"
        assert (second.mounts / ids["Fast"] / "data/a").read_bytes() == b"new"
        s3.put_object(Bucket=ids["Bucket"], Key="in/b", Body=b"later")
        assert (second.mounts / ids["Fast"] / "data/b").read_bytes() == b"later"
        s3.delete_object(Bucket=ids["Bucket"], Key="in/a", VersionId=old["VersionId"])
        check_the_rest(second, changed_template())
        second.client("cloudformation").delete_stack(StackName="One")
        reasons = second.client("cloudformation").describe_stack_events(
            StackName=before["StackId"]
        )["StackEvents"]
        failed = {e["LogicalResourceId"] for e in reasons if e["ResourceStatus"] == "DELETE_FAILED"}
        # A bucket with objects in it cannot be deleted, in AWS too; all else is gone.
        assert failed - {"One"} == {"Bucket"}
        assert list(second.mounts.iterdir()) == []


def changed_template() -> dict[str, Any]:
    """Return the template with one thing changed of each kind whose state is our own."""
    template = copy.deepcopy(TEMPLATE)
    resources: dict[str, Any] = template["Resources"]
    resources["Rule"]["Properties"]["Description"] = "Lustre clients"
    resources["Endpoint"]["Properties"]["SecurityGroupIds"] = [{"Ref": "Group"}]
    resources["Scripts"]["Properties"]["OnStart"] = [{"Content": "ZWNobyAyCg=="}]
    resources["Notebook"]["Properties"]["InstanceType"] = "ml.m5.4xlarge"
    resources["Policy"]["Properties"]["Roles"] = []
    return template


def check_the_rest(aws: LocalAws, template: dict[str, Any]) -> None:
    """Change the stack, and see each service follow; then let it be deleted."""
    cloudformation = aws.client("cloudformation")
    cloudformation.update_stack(StackName="One", TemplateBody=json.dumps(template))
    stack = cloudformation.describe_stacks(StackName="One")["Stacks"][0]
    assert stack["StackStatus"] == "UPDATE_COMPLETE", stack.get("StackStatusReason")
    resources = cloudformation.list_stack_resources(StackName="One")["StackResourceSummaries"]
    ids = {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in resources}
    ec2, sagemaker = aws.client("ec2"), aws.client("sagemaker")
    rules = ec2.describe_security_group_rules(SecurityGroupRuleIds=[ids["Rule"]])
    assert rules["SecurityGroupRules"][0]["Description"] == "Lustre clients"
    (endpoint,) = ec2.describe_vpc_endpoints(VpcEndpointIds=[ids["Endpoint"]])["VpcEndpoints"]
    assert [group["GroupId"] for group in endpoint["Groups"]] == [ids["Group"]]
    notebook = sagemaker.describe_notebook_instance(
        NotebookInstanceName=ids["Notebook"].split("/")[-1]
    )
    assert notebook["InstanceType"] == "ml.m5.4xlarge"
    assert notebook["DefaultCodeRepository"] == ids["Code"].split("/")[-1]
    attached = aws.client("iam").list_attached_role_policies(RoleName=ids["Role"])
    assert attached["AttachedPolicies"] == []
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        cloudformation.delete_stack(StackName="One")
    cloudformation.update_termination_protection(StackName="One", EnableTerminationProtection=False)


def test_a_list_that_was_read_in_part_is_kept_with_its_rest(tmp_path: Path) -> None:
    """moto keeps a generator for each answer of the tagging API that has another page."""
    with running_local_aws(tmp_path) as first:
        for number in range(3):
            first.client("sns").create_topic(
                Name=f"topic-{number}", Tags=[{"Key": "Project", "Value": "a"}]
            )
        page = first.client("resourcegroupstaggingapi").get_resources(ResourcesPerPage=1)
        seen = [each["ResourceARN"] for each in page["ResourceTagMappingList"]]
    with running_local_aws(tmp_path) as second:
        rest = second.client("resourcegroupstaggingapi").get_resources(
            PaginationToken=page["PaginationToken"]
        )
        seen += [each["ResourceARN"] for each in rest["ResourceTagMappingList"]]
        topics = second.client("sns").list_topics()["Topics"]
    assert sorted(seen) == sorted(each["TopicArn"] for each in topics)


SERVICES = ("cloudformation", "ec2", "ecr", "efs", "fsx", "iam", "kms", "logs", "s3", "ssm", "sts")
"""Those that the stacks use, and some whose objects are hard to keep."""


@pytest.mark.parametrize("name", [*SERVICES, "sagemaker", "lambda", "events", "dynamodb"])
def test_service_can_be_kept_and_is_found_by_its_name(name: str) -> None:
    service = backends.get_backend(name)  # type: ignore[call-overload]
    assert backends.get_backend(service.service_name) is service
    regions = service[DEFAULT_ACCOUNT_ID]
    backend = regions["us-east-1" if "us-east-1" in regions else "aws"]
    file = io.BytesIO()
    state._Pickler(file).dump(backend)
    again = pickle.loads(file.getvalue())
    assert type(again) is type(backend)
    assert vars(again).keys() == vars(backend).keys()


def test_state_of_another_moto_is_refused_by_version(tmp_path: Path) -> None:
    path = tmp_path / "backends.pickle"
    snapshot = {"moto": "1.0", "backends": {}, "bucket_accounts": {}}
    path.write_bytes(pickle.dumps(snapshot))
    with pytest.raises(state.UsageError, match=r"kept by moto 1\.0, but moto .* is installed"):
        state.load(path)


def test_state_of_another_version_of_the_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "backends.pickle"
    snapshot = {"moto": version("moto"), "backends": {}, "bucket_accounts": {}}
    path.write_bytes(pickle.dumps(snapshot))
    with pytest.raises(state.UsageError, match=r"another version of this program\. Start again"):
        state.load(path)


def test_interrupted_save_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "backends.pickle"
    path.write_bytes(b"old")

    def fail(self: object, snapshot: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(state._Pickler, "dump", fail)
    with pytest.raises(OSError, match="disk full"):
        state.save(path)
    assert path.read_bytes() == b"old"
