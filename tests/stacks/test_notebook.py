"""What NotebookStack is made of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.stacks.matrix import MATRIX, Synth, Synthesize, Template, properties, resources

every_row = pytest.mark.parametrize("row", MATRIX)


def notebook(synth: Synth) -> dict[str, Any]:
    [instance] = properties(synth.templates["NotebookStack"], "AWS::SageMaker::NotebookInstance")
    return instance


def on_start(template: Template) -> str:
    """Return the script, with `<...>` where CloudFormation puts values in."""
    [scripts] = properties(template, "AWS::SageMaker::NotebookInstanceLifecycleConfig")
    [hook] = scripts["OnStart"]
    return filled(hook["Content"]["Fn::Base64"])


def filled(value: Any) -> str:
    if isinstance(value, dict) and "Fn::Join" in value:
        delimiter, parts = value["Fn::Join"]
        return str(delimiter).join(map(filled, parts))
    return value if isinstance(value, str) else f"<{json.dumps(value)}>"


def value_of(name: str, script: str) -> str:
    [value] = re.findall(rf"^readonly {name}=(.*)$", script, re.MULTILINE)
    return str(value)


@every_row
def test_the_notebook_is_private_encrypted_and_of_the_current_platform(
    row: str, synth: Synthesize
) -> None:
    instance = notebook(synth(row))
    assert instance["PlatformIdentifier"] == "notebook-al2023-v1"
    assert instance["DirectInternetAccess"] == "Disabled"
    assert instance["InstanceMetadataServiceConfiguration"] == {
        "MinimumInstanceMetadataServiceVersion": "2"
    }
    assert instance["KmsKeyId"]
    assert instance["SubnetId"]
    assert len(instance["SecurityGroupIds"]) == 1


def test_defaults_are_those_of_the_old_template_without_root(synth: Synthesize) -> None:
    instance = notebook(synth("default"))
    assert instance["InstanceType"] == "ml.m5.2xlarge"
    assert instance["VolumeSizeInGB"] == 200
    assert instance["RootAccess"] == "Disabled"
    assert instance["NotebookInstanceName"] == "distributed-mask-rcnn"
    assert "DefaultCodeRepository" not in instance
    assert "AdditionalCodeRepositories" not in instance


def test_settings_reach_the_instance(synth: Synthesize) -> None:
    instance = notebook(synth("rooted-notebook"))
    assert instance["InstanceType"] == "ml.c5.9xlarge"
    assert instance["VolumeSizeInGB"] == 500
    assert instance["RootAccess"] == "Enabled"


@every_row
def test_it_is_in_the_group_that_the_file_systems_admit(row: str, synth: Synthesize) -> None:
    [group] = notebook(synth(row))["SecurityGroupIds"]
    admitted = [
        rule["SourceSecurityGroupId"]
        for rule in properties(
            synth(row).templates["StorageStack"], "AWS::EC2::SecurityGroupIngress"
        )
    ]
    assert not admitted or group in admitted


@pytest.mark.parametrize(
    ("row", "number"),
    [("default", 1), ("no-fsx", 1), ("everything-set", 3), ("rooted-notebook", 2)],
)
def test_it_is_in_the_zone_of_fsx_unless_told_another(
    row: str, number: int, synth: Synthesize
) -> None:
    subnets = synth(row).templates["NetworkStack"]["Outputs"]["PrivateSubnetIds"]["Value"]
    ids = [each for each in subnets["Fn::Join"][1] if each != ","]
    subnet = notebook(synth(row))["SubnetId"]
    assert ids[number - 1]["Ref"] in str(subnet)


def test_git_is_cloned_with_a_secret_that_sagemaker_alone_reads(synth: Synthesize) -> None:
    template = synth("notebook-with-git").templates["NotebookStack"]
    settings = MATRIX["notebook-with-git"]
    [(repository_id, repository)] = resources(template, "AWS::SageMaker::CodeRepository").items()
    assert repository["Properties"]["GitConfig"] == {
        "RepositoryUrl": settings["notebook_git_repository"],
        "Branch": "main",
        "SecretArn": settings["notebook_git_secret_arn"],
    }
    [name] = notebook(synth("notebook-with-git"))["AdditionalCodeRepositories"]
    assert name == {"Fn::GetAtt": [repository_id, "CodeRepositoryName"]}
    # Its ARN is in the role and the repository, its value nowhere.
    assert "resolve:secretsmanager" not in json.dumps(template)
    assert "secret" not in on_start(template).lower()


def test_the_script_mounts_the_file_systems_of_the_storage_stack(synth: Synthesize) -> None:
    script = on_start(synth("default").templates["NotebookStack"])
    storage = synth("default").templates["StorageStack"]["Outputs"]
    assert storage["EfsId"]["Value"]["Ref"] in value_of("EFS_DNS_NAME", script)
    assert ".efs.<" in value_of("EFS_DNS_NAME", script)
    assert "DNSName" in value_of("FSX_DNS_NAME", script)
    assert "LustreMountName" in value_of("FSX_MOUNT_NAME", script)


def test_without_fsx_the_script_knows_of_none(synth: Synthesize) -> None:
    script = on_start(synth("no-fsx").templates["NotebookStack"])
    assert value_of("FSX_DNS_NAME", script) == "''"


def test_existing_file_systems_are_mounted_by_their_ids(synth: Synthesize) -> None:
    script = on_start(synth("existing-efs").templates["NotebookStack"])
    assert value_of("EFS_DNS_NAME", script).startswith("'fs-0123456789abcdef1.efs.")
    script = on_start(synth("existing-fsx").templates["NotebookStack"])
    assert value_of("FSX_DNS_NAME", script).startswith("'fs-0123456789abcdef2.fsx.")
    assert value_of("FSX_MOUNT_NAME", script) == "abcdef12"


def test_packages_come_from_the_bucket_only_if_told(synth: Synthesize) -> None:
    assert value_of("WHEELS", on_start(synth("default").templates["NotebookStack"])) == "''"
    closed = on_start(synth("no-internet").templates["NotebookStack"])
    assert value_of("WHEELS", closed).startswith("'s3://<")
    assert value_of("WHEELS", closed).endswith("/notebook/wheels'")


def test_the_script_fetches_the_very_file_that_deploy_uploads(synth: Synthesize) -> None:
    assembly: Path = synth("default").assembly
    script = on_start(synth("default").templates["NotebookStack"])
    assets = json.loads((assembly / "NotebookStack.assets.json").read_text())["files"]
    [source] = [each["source"]["path"] for each in assets.values() if "zip" in str(each)]
    content = (assembly / source).read_bytes()
    assert value_of("SOURCE_SHA256", script) == hashlib.sha256(content).hexdigest()
    assert value_of("SOURCE_KEY", script) in str(assets)


def test_only_that_file_of_the_bucket_of_assets_can_be_read(synth: Synthesize) -> None:
    template = synth("default").templates["NotebookStack"]
    key = value_of("SOURCE_KEY", on_start(template))
    objects = [
        filled(statement["Resource"])
        for policy in properties(template, "AWS::IAM::ManagedPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Action"] == "s3:GetObject"
    ]
    assert [each.endswith(f"/{key}") for each in objects] == [True]


@every_row
def test_the_script_stays_under_the_limit_of_the_api(row: str, synth: Synthesize) -> None:
    script = on_start(synth(row).templates["NotebookStack"])
    # A name that CloudFormation puts in is shorter than what stands for it here.
    assert len(base64.b64encode(script.encode())) < 16_384


def test_the_instance_waits_for_the_rights_of_its_role(synth: Synthesize) -> None:
    template = synth("default").templates["NotebookStack"]
    [instance] = resources(template, "AWS::SageMaker::NotebookInstance").values()
    policies = set(resources(template, "AWS::IAM::ManagedPolicy"))
    assert len(policies) == 5
    assert policies <= set(instance["DependsOn"])


def test_outputs_name_the_instance_and_its_role(synth: Synthesize) -> None:
    template = synth("default").templates["NotebookStack"]
    [role_id] = resources(template, "AWS::IAM::Role")
    assert template["Outputs"]["NotebookName"]["Value"] == "distributed-mask-rcnn"
    assert template["Outputs"]["NotebookRoleArn"]["Value"] == {"Fn::GetAtt": [role_id, "Arn"]}
