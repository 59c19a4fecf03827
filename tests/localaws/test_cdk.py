"""The real CDK CLI against local AWS, with this project's stacks."""

from __future__ import annotations

import base64
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app import build_app
from tests.conftest import ROOT, LocalAws, running_local_aws
from tests.localaws.cdk_cli import CLI, Cdk
from tests.stacks.matrix import STACKS
from training.outputs import CONTRACTS, NotebookOutputs, Outputs, StorageOutputs, read_outputs_file

TOOLKIT = "CDKToolkit"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CLI is None, reason="the CDK CLI is not installed: make setup"),
]

Assemble = Callable[..., Path]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    with running_local_aws(tmp_path_factory.mktemp("cdk")) as running:
        yield running


@pytest.fixture(scope="module")
def assemble(tmp_path_factory: pytest.TempPathFactory) -> Assemble:
    """Synthesize settings: once, since each command of the CLI would do it again."""

    @cache
    def synthesized(**settings: str) -> Path:
        folder = tmp_path_factory.mktemp("assembly")
        # The CLI wants a construct's path in the template.
        context = {"aws:cdk:enable-path-metadata": True, **settings}
        build_app(context, outdir=str(folder)).synth()
        return folder

    return synthesized


@pytest.fixture(scope="module")
def bootstrapped(aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Cdk:
    made = Cdk(aws, tmp_path_factory.mktemp("project"))
    made("bootstrap", "aws://123456789012/us-east-1")
    return made


@pytest.fixture
def cdk(aws: LocalAws, bootstrapped: Cdk) -> Iterator[Cdk]:
    """The CLI in a folder without a cdk.json; what a test leaves behind is deleted."""
    yield bootstrapped
    cloudformation = aws.client("cloudformation")
    users_first = (*reversed(STACKS), "Bad")
    for name in [name for name in users_first if name in statuses(aws)]:
        cloudformation.update_termination_protection(
            StackName=name, EnableTerminationProtection=False
        )
        cloudformation.delete_stack(StackName=name)


def statuses(aws: LocalAws) -> dict[str, str]:
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    return {stack["StackName"]: stack["StackStatus"] for stack in stacks}


def complete(*stacks: str) -> dict[str, str]:
    return dict.fromkeys((TOOLKIT, *stacks), "CREATE_COMPLETE")


@pytest.fixture
def project(aws: LocalAws, tmp_path: Path) -> Cdk:
    """The CLI in a folder with what our cdk.json runs, and nothing else of the project."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("cdk.json", "app.py"):
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return Cdk(aws, folder)


def test_stacks_are_deployed_kept_and_destroyed(
    aws: LocalAws, cdk: Cdk, project: Cdk, assemble: Assemble, tmp_path: Path
) -> None:
    project("deploy", "NetworkStack", "StorageStack")
    assert statuses(aws) == complete("NetworkStack", "StorageStack")

    outputs_file = tmp_path / "outputs.json"
    cdk("deploy", "--all", "--outputs-file", str(outputs_file), assembly=assemble())
    assert statuses(aws) == complete(*STACKS)
    outputs = read_outputs_file(outputs_file)
    for contract in CONTRACTS:
        outputs.read(contract)
    check_notebook(aws, outputs)
    storage = outputs.read(StorageOutputs)
    check_bucket_is_in_lustre(aws, storage)

    again = cdk("deploy", "--all", assembly=assemble())
    assert again.count("(no changes)") == len(STACKS)
    assert "differences: 0" in cdk("diff", "--all", assembly=assemble())
    assert "resources with drift: 0" in cdk("drift", assembly=assemble())

    groups, repositories = log_groups(aws), repository_names(aws)
    assert len(repositories) == 4
    cdk("destroy", "--force", "--all", assembly=assemble())
    assert statuses(aws) == complete()
    check_data_is_kept(aws, storage)
    assert (log_groups(aws), repository_names(aws)) == (groups, repositories)


def check_notebook(aws: LocalAws, outputs: Outputs) -> None:
    """Check that the notebook is there with its role, and mounts the file systems at its start."""
    sagemaker = aws.client("sagemaker")
    told = outputs.read(NotebookOutputs)
    notebook = sagemaker.describe_notebook_instance(NotebookInstanceName=told.notebook_name)
    assert notebook["NotebookInstanceStatus"] == "InService"
    assert notebook["DirectInternetAccess"] == "Disabled"
    assert notebook["RoleArn"] == told.notebook_role_arn
    role = told.notebook_role_arn.split("/")[-1]
    policies = aws.client("iam").list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    assert len(policies) == 5
    scripts = sagemaker.describe_notebook_instance_lifecycle_config(
        NotebookInstanceLifecycleConfigName=notebook["NotebookInstanceLifecycleConfigName"]
    )
    (on_start,) = scripts["OnStart"]
    lines = base64.b64decode(on_start["Content"]).decode().splitlines()
    storage = outputs.read(StorageOutputs)
    lustre = storage.lustre(asked_by="the test")
    # Quoted for the shell.
    pairs = (shlex.split(line) for line in lines if line.startswith("readonly "))
    values = dict(words[1].split("=", 1) for words in pairs)
    assert values["EFS_DNS_NAME"] == f"{storage.efs_id}.efs.us-east-1.amazonaws.com"
    assert values["FSX_DNS_NAME"] == lustre.dns_name
    assert values["FSX_MOUNT_NAME"] == lustre.mount_name
    aws.client("s3").head_object(Bucket=values["SOURCE_BUCKET"], Key=values["SOURCE_KEY"])


def check_bucket_is_in_lustre(aws: LocalAws, storage: StorageOutputs) -> None:
    aws.client("s3").put_object(Bucket=storage.bucket_name, Key="a/b", Body=b"data")
    lustre = storage.lustre(asked_by="the test")
    assert (aws.mounts / lustre.id / lustre.data_path.strip("/") / "a/b").read_bytes() == b"data"


def check_data_is_kept(aws: LocalAws, storage: StorageOutputs) -> None:
    """Check that bucket, EFS and key outlive the stack, and FSx for Lustre does not."""
    kept = aws.client("s3").get_object(Bucket=storage.bucket_name, Key="a/b")
    assert kept["Body"].read() == b"data"
    assert (aws.mounts / storage.efs_id).is_dir()
    key = aws.client("kms").describe_key(KeyId=storage.encryption_key_arn)["KeyMetadata"]
    assert key["KeyState"] == "Enabled"
    assert not (aws.mounts / str(storage.fsx_id)).exists()


def log_groups(aws: LocalAws) -> set[str]:
    return {group["arn"] for group in aws.client("logs").describe_log_groups()["logGroups"]}


def repository_names(aws: LocalAws) -> set[str]:
    found = aws.client("ecr").describe_repositories()["repositories"]
    names = {repository["repositoryName"] for repository in found}
    return {name for name in names if name.startswith("registrystack-")}


def test_protected_stack_is_destroyed_only_once_it_is_no_longer(
    aws: LocalAws, cdk: Cdk, assemble: Assemble
) -> None:
    cdk("deploy", "RegistryStack", assembly=assemble(termination_protection="true"))
    destroy = ("destroy", "--force", "RegistryStack")
    refused = cdk.fail(*destroy, assembly=assemble(termination_protection="true"))
    assert "RegistryStack" in refused
    assert "TerminationProtection is enabled" in refused
    assert statuses(aws) == complete("RegistryStack")

    cdk("deploy", "RegistryStack", assembly=assemble())
    cdk(*destroy, assembly=assemble())
    assert statuses(aws) == complete()


def test_failed_and_interrupted_deployments_are_begun_again(
    aws: LocalAws, cdk: Cdk, assemble: Assemble
) -> None:
    stacks = ("NetworkStack", "StorageStack")
    missing = "fs-0123456789abcdef9"
    failed = cdk.fail("deploy", *stacks, assembly=assemble(efs_id=missing))
    assert "AWS::EFS::MountTarget" in failed
    assert missing in failed
    assert statuses(aws)["StorageStack"] == "ROLLBACK_COMPLETE"

    # What was rolled back makes way, and a change set of the new one is left.
    begun = "StorageStack: creating CloudFormation changeset"
    cdk.kill_when_it_prints(begun, "deploy", *stacks, assembly=assemble())
    cdk("deploy", *stacks, assembly=assemble())
    assert statuses(aws) == complete(*stacks)


def write_assembly(folder: Path, template: Mapping[str, Any]) -> Path:
    """Write a cloud assembly of one stack, `Bad`."""
    folder.mkdir()
    (folder / "Bad.template.json").write_text(json.dumps(template))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://123456789012/us-east-1",
        "properties": {"templateFile": "Bad.template.json", "stackName": "Bad"},
    }
    manifest = {"version": "36.0.0", "artifacts": {"Bad": stack}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("method", ["direct", "change-set"])
def test_unknown_resource_fails_the_deployment_by_name(
    aws: LocalAws, cdk: Cdk, tmp_path: Path, method: str
) -> None:
    template = {"Resources": {"Rocket": {"Type": "AWS::Space::Rocket"}}}
    bad = write_assembly(tmp_path / "bad", template)
    failed = cdk.fail("deploy", "Bad", "--method", method, assembly=bad)
    assert "Rocket (AWS::Space::Rocket)" in failed
    assert "Bad" not in statuses(aws)


def test_failed_creation_fails_the_deployment_with_the_reason(
    aws: LocalAws, cdk: Cdk, tmp_path: Path
) -> None:
    subnet = {"VpcId": "vpc-0123", "CidrBlock": "10.0.0.0/24"}
    template = {"Resources": {"Lost": {"Type": "AWS::EC2::Subnet", "Properties": subnet}}}
    bad = write_assembly(tmp_path / "bad", template)
    assert "vpc-0123" in cdk.fail("deploy", "Bad", "--method", "direct", assembly=bad)
    assert statuses(aws)["Bad"] == "ROLLBACK_COMPLETE"
