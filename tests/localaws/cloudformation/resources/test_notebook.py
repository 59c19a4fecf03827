"""Notebook instances, their scripts and Git repositories, made and changed by a stack."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def trust(service: str = "sagemaker.amazonaws.com") -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}


def script(text: str) -> list[dict[str, str]]:
    return [{"Content": base64.b64encode(text.encode()).decode()}]


def named(logical_id: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, attribute]}


BASE: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/24"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/25"},
    },
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "Notebook", "VpcId": {"Ref": "Vpc"}},
    },
    "Role": {"Type": "AWS::IAM::Role", "Properties": trust()},
    "Key": {"Type": "AWS::KMS::Key"},
    "Scripts": {
        "Type": "AWS::SageMaker::NotebookInstanceLifecycleConfig",
        "Properties": {"OnStart": script("echo start"), "OnCreate": script("echo create")},
    },
    "Code": {
        "Type": "AWS::SageMaker::CodeRepository",
        "Properties": {
            "GitConfig": {
                "RepositoryUrl": "https://git.example.com/a.git",
                "Branch": "main",
                "SecretArn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:a-AbCdEf",
            }
        },
    },
}

WHOLE: dict[str, Any] = {
    "InstanceType": "ml.m5.2xlarge",
    "RoleArn": named("Role", "Arn"),
    "SubnetId": {"Ref": "Subnet"},
    "SecurityGroupIds": [{"Ref": "Group"}],
    "VolumeSizeInGB": 200,
    "PlatformIdentifier": "notebook-al2023-v1",
    "DirectInternetAccess": "Disabled",
    "RootAccess": "Disabled",
    "InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion": "2"},
    "KmsKeyId": {"Ref": "Key"},
    "LifecycleConfigName": named("Scripts", "NotebookInstanceLifecycleConfigName"),
    "DefaultCodeRepository": named("Code", "CodeRepositoryName"),
    "Tags": [{"Key": "team", "Value": "vision"}],
}

MINIMAL: dict[str, Any] = {"InstanceType": "ml.t3.medium", "RoleArn": named("Role", "Arn")}


def notebook(properties: dict[str, Any]) -> Resources:
    return {
        "Notebook": {"Type": "AWS::SageMaker::NotebookInstance", "Properties": properties},
        **BASE,
    }


def describe(aws: LocalAws, stack: Stack) -> dict[str, Any]:
    name = stack.ids()["Notebook"].split("/")[-1]
    described: dict[str, Any] = aws.client("sagemaker").describe_notebook_instance(
        NotebookInstanceName=name
    )
    return described


def reason(stack: Stack, resources: Resources) -> str:
    made = stack.create(resources)
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    return str(made["StackStatusReason"])


def test_every_setting_is_seen_and_all_is_deleted(local_aws: LocalAws, stack: Stack) -> None:
    made = stack.create(notebook(WHOLE))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    seen, ids = describe(local_aws, stack), stack.ids()
    assert seen["NotebookInstanceStatus"] == "InService"
    same = ("InstanceType", "VolumeSizeInGB", "PlatformIdentifier", "RootAccess")
    more = ("DirectInternetAccess", "InstanceMetadataServiceConfiguration")
    assert {name: seen[name] for name in (*same, *more)} == {
        name: WHOLE[name] for name in (*same, *more)
    }
    assert seen["RoleArn"].endswith(ids["Role"])
    assert (seen["SubnetId"], seen["SecurityGroups"]) == (ids["Subnet"], [ids["Group"]])
    assert seen["KmsKeyId"] == ids["Key"]
    assert ids["Scripts"].endswith(f"/{seen['NotebookInstanceLifecycleConfigName']}")
    assert ids["Code"].endswith(f"/{seen['DefaultCodeRepository']}")
    sagemaker, ec2 = local_aws.client("sagemaker"), local_aws.client("ec2")
    assert sagemaker.list_tags(ResourceArn=ids["Notebook"])["Tags"] == WHOLE["Tags"]
    (interface,) = ec2.describe_network_interfaces(
        NetworkInterfaceIds=[seen["NetworkInterfaceId"]]
    )["NetworkInterfaces"]
    assert interface["SubnetId"] == ids["Subnet"]
    assert [each["GroupId"] for each in interface["Groups"]] == [ids["Group"]]

    stack.delete()
    assert ids["Notebook"] not in str(sagemaker.list_notebook_instances())
    assert ids["Code"] not in str(sagemaker.list_code_repositories())
    assert ids["Scripts"] not in str(sagemaker.list_notebook_instance_lifecycle_configs())
    with pytest.raises(ClientError, match="InvalidNetworkInterfaceID"):
        ec2.describe_network_interfaces(NetworkInterfaceIds=[seen["NetworkInterfaceId"]])


def test_update_keeps_the_notebook_and_leaves_it_running(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(notebook(WHOLE))
    before = stack.ids()
    small = {
        **{name: value for name, value in WHOLE.items() if name not in ("RootAccess",)},
        "InstanceType": "ml.g5.xlarge",
        "VolumeSizeInGB": 300,
        "Tags": [{"Key": "team", "Value": "speech"}],
    }
    del small["LifecycleConfigName"], small["DefaultCodeRepository"]
    changed = stack.update(notebook(small))
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == before
    seen = describe(local_aws, stack)
    assert seen["NotebookInstanceStatus"] == "InService"
    assert (seen["InstanceType"], seen["VolumeSizeInGB"]) == ("ml.g5.xlarge", 300)
    assert seen["RootAccess"] == "Enabled"
    assert not {"NotebookInstanceLifecycleConfigName", "DefaultCodeRepository"} & seen.keys()
    tags = local_aws.client("sagemaker").list_tags(ResourceArn=before["Notebook"])["Tags"]
    assert tags == small["Tags"]
    stack.delete()


def test_notebook_that_its_user_stopped_stays_so(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(notebook(MINIMAL))
    name = stack.ids()["Notebook"].split("/")[-1]
    local_aws.client("sagemaker").stop_notebook_instance(NotebookInstanceName=name)
    stack.update(notebook({**MINIMAL, "InstanceType": "ml.t3.large"}))
    seen = describe(local_aws, stack)
    assert (seen["InstanceType"], seen["NotebookInstanceStatus"]) == ("ml.t3.large", "Stopped")
    stack.delete()


def test_fixed_setting_makes_a_new_notebook(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(notebook(MINIMAL))
    before = stack.ids()
    stack.update(notebook({**MINIMAL, "SubnetId": {"Ref": "Subnet"}}))
    assert stack.ids()["Notebook"] != before["Notebook"]
    assert describe(local_aws, stack)["SubnetId"] == before["Subnet"]
    names = str(local_aws.client("sagemaker").list_notebook_instances())
    assert before["Notebook"] not in names
    stack.delete()


def test_scripts_and_secret_change_in_place(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(BASE)
    before = stack.ids()
    secret = "arn:aws:secretsmanager:us-east-1:123456789012:secret:b-AbCdEf"
    code = {**BASE["Code"]["Properties"]["GitConfig"], "SecretArn": secret}
    stack.update(
        {
            **BASE,
            "Scripts": {**BASE["Scripts"], "Properties": {"OnStart": script("echo other")}},
            "Code": {**BASE["Code"], "Properties": {"GitConfig": code}},
        }
    )
    assert stack.ids() == before
    sagemaker = local_aws.client("sagemaker")
    scripts = sagemaker.describe_notebook_instance_lifecycle_config(
        NotebookInstanceLifecycleConfigName=before["Scripts"].split("/")[-1]
    )
    assert (scripts["OnStart"], scripts["OnCreate"]) == (script("echo other"), [])
    repository = sagemaker.describe_code_repository(
        CodeRepositoryName=before["Code"].split("/")[-1]
    )
    assert repository["GitConfig"] == code
    stack.delete()


def test_script_over_the_limit_is_refused(stack: Stack) -> None:
    scripts = {**BASE["Scripts"], "Properties": {"OnStart": script("x" * 12_300)}}
    why = reason(stack, {"Scripts": scripts})
    assert "'onStart.1.member.content'" in why
    assert "less than or equal to 16384" in why


def test_script_at_the_limit_is_taken(stack: Stack) -> None:
    scripts = {**BASE["Scripts"], "Properties": {"OnStart": script("x" * 12_288)}}
    assert stack.create({"Scripts": scripts})["StackStatus"] == "CREATE_COMPLETE"
    stack.delete()


MISSING = {
    "RoleArn": ("arn:aws:iam::123456789012:role/gone", "role exists and allows principal"),
    "LifecycleConfigName": ("gone", "Lifecycle Config does not exist"),
    "DefaultCodeRepository": ("gone", 'Cannot find CodeRepository "gone"'),
    "SubnetId": ("subnet-0123", "SubnetId subnet-0123: does not exist"),
    "KmsKeyId": ("0123", "KmsKeyId 0123: does not exist"),
    "InstanceType": ("ml.p9.huge", "Value 'ml.p9.huge' at 'instanceType'"),
    "PlatformIdentifier": ("notebook-al9", "PlatformIdentifier notebook-al9: must be one of"),
    "VolumeSizeInGB": (20_000, "value: 20000, valid range: 5-16384"),
}


@pytest.mark.parametrize("name", MISSING)
def test_value_that_is_not_there_is_refused_by_name(stack: Stack, name: str) -> None:
    value, message = MISSING[name]
    assert message in reason(stack, notebook({**MINIMAL, name: value}))


def test_role_of_another_service_is_refused(stack: Stack) -> None:
    resources = notebook(MINIMAL)
    resources["Role"] = {"Type": "AWS::IAM::Role", "Properties": trust("ec2.amazonaws.com")}
    assert "'sagemaker.amazonaws.com' to assume the role" in reason(stack, resources)


def test_no_internet_needs_a_subnet(stack: Stack) -> None:
    properties = {**MINIMAL, "DirectInternetAccess": "Disabled"}
    assert "DirectInternetAccess Disabled needs a SubnetId" in reason(stack, notebook(properties))


def test_volume_cannot_shrink(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(notebook({**MINIMAL, "VolumeSizeInGB": 50}))
    changed = stack.update(notebook({**MINIMAL, "VolumeSizeInGB": 20}))
    assert changed["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "the volume has 50 GB and cannot shrink" in changed["StackStatusReason"]
    seen = describe(local_aws, stack)
    assert (seen["VolumeSizeInGB"], seen["NotebookInstanceStatus"]) == (50, "InService")
    stack.delete()


def test_running_notebook_is_neither_changed_nor_deleted(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(notebook(MINIMAL))
    sagemaker = local_aws.client("sagemaker")
    name = stack.ids()["Notebook"].split("/")[-1]
    with pytest.raises(ClientError, match=r"Status \(InService\) .* transition to \(Updating\)"):
        sagemaker.update_notebook_instance(NotebookInstanceName=name, InstanceType="ml.t3.large")
    with pytest.raises(ClientError, match=r"Unable to transition to \(Deleting\)"):
        sagemaker.delete_notebook_instance(NotebookInstanceName=name)
    stack.delete()
