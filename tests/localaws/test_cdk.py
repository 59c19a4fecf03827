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
from tests.localaws.head_events import told_by_a_head
from tests.stacks.matrix import OPTIONAL_STACKS, STACKS
from training.outputs import (
    CONTRACTS,
    ClusterOutputs,
    KubernetesOutputs,
    NotebookOutputs,
    Outputs,
    StorageOutputs,
    read_outputs_file,
)

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
    users_first = (*OPTIONAL_STACKS, *reversed(STACKS), "Bad")
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
    # EKS's own goes with its cluster.
    kept = {name for name in groups if "/aws/eks/" not in name}
    assert (log_groups(aws), repository_names(aws)) == (kept, repositories)


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


OF_CLUSTER = ("NetworkStack", "StorageStack", "RegistryStack", "ClusterStack")


@pytest.mark.soak  # that nodes are rolled is shown in test_auto_scaling_group.py too
def test_another_ami_rolls_the_nodes_and_touches_no_data(
    aws: LocalAws, cdk: Cdk, assemble: Assemble, tmp_path: Path
) -> None:
    outputs_file = tmp_path / "outputs.json"
    before = assemble(cluster_workers="2")
    cdk("deploy", *OF_CLUSTER, "--outputs-file", str(outputs_file), assembly=before)
    assert statuses(aws) == complete(*OF_CLUSTER)
    outputs = read_outputs_file(outputs_file)
    cluster, storage = outputs.read(ClusterOutputs), outputs.read(StorageOutputs)
    names = (cluster.head_group_name, cluster.worker_group_name)
    nodes = {name: members(aws, name) for name in names}
    assert [len(nodes[name]) for name in names] == [1, 2]
    data = aws.mounts / storage.efs_id / "data"
    data.write_text("kept")

    ami = aws.client("ec2").register_image(Name="of our own")["ImageId"]
    after = assemble(
        cluster_workers="2",
        cluster_max_workers="8",
        cluster_ami=ami,
        cluster_root_device="/dev/xvda",
    )
    changed = cdk("deploy", *OF_CLUSTER, assembly=after)
    assert changed.count("(no changes)") == len(OF_CLUSTER) - 1
    assert "Rolling update initiated. Terminating 2 obsolete instance(s)" in changed
    assert statuses(aws)["ClusterStack"] == "UPDATE_COMPLETE"
    for name in names:
        assert len(members(aws, name)) == len(nodes[name])
        assert not members(aws, name) & nodes[name]
    assert images(aws, members(aws, cluster.worker_group_name)) == {ami}
    assert "differences: 0" in cdk("diff", "ClusterStack", assembly=after)
    assert "resources with drift: 0" in cdk("drift", "ClusterStack", assembly=after)

    cdk("destroy", "--force", "ClusterStack", assembly=after)
    assert "ClusterStack" not in statuses(aws)
    assert all(members(aws, name) == set() for name in names)
    assert data.read_text() == "kept"


def members(aws: LocalAws, group: str) -> set[str]:
    """Return the instances of a group; none where there is no such group."""
    found = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])
    return {
        instance["InstanceId"]
        for each in found["AutoScalingGroups"]
        for instance in each["Instances"]
    }


def images(aws: LocalAws, instance_ids: set[str]) -> set[str]:
    found = aws.client("ec2").describe_instances(InstanceIds=sorted(instance_ids))
    return {instance["ImageId"] for each in found["Reservations"] for instance in each["Instances"]}


OF_KUBERNETES = ("NetworkStack", "StorageStack", "KubernetesStack")


@pytest.mark.soak
def test_a_newer_kubernetes_raises_the_cluster_then_its_nodes(
    aws: LocalAws, cdk: Cdk, assemble: Assemble, tmp_path: Path
) -> None:
    outputs_file = tmp_path / "outputs.json"
    admin = "arn:aws:iam::123456789012:role/Admin"
    before = assemble(eks_admin_arns=admin)
    cdk("deploy", *OF_KUBERNETES, "--outputs-file", str(outputs_file), assembly=before)
    assert statuses(aws) == complete(*OF_KUBERNETES)
    told = read_outputs_file(outputs_file).read(KubernetesOutputs)
    name, group = told.cluster_name, told.gpu_node_group
    assert (told.kubernetes_version, told.api_access) == ("1.35", "private")
    eks = aws.client("eks")
    assert eks.describe_cluster(name=name)["cluster"]["version"] == "1.35"
    assert eks.list_access_entries(clusterName=name)["accessEntries"] == [admin]
    point = aws.client("efs").describe_access_points(AccessPointId=told.efs_access_point_id)
    assert point["AccessPoints"][0]["PosixUser"] == {"Uid": 0, "Gid": 0}
    again = cdk("deploy", *OF_KUBERNETES, assembly=before)
    assert again.count("(no changes)") == len(OF_KUBERNETES)

    after = assemble(
        eks_version="1.36",
        eks_node_release="1.36.2-20260714",
        eks_gpu_instance_type="p5.48xlarge",
        eks_api_cidrs="203.0.113.0/24",
    )
    changed = cdk("deploy", *OF_KUBERNETES, assembly=after)
    assert changed.count("(no changes)") == len(OF_KUBERNETES) - 1
    assert statuses(aws)["KubernetesStack"] == "UPDATE_COMPLETE"
    cluster = eks.describe_cluster(name=name)["cluster"]
    assert cluster["version"] == "1.36"
    assert cluster["resourcesVpcConfig"]["publicAccessCidrs"] == ["203.0.113.0/24"]
    nodes = eks.describe_nodegroup(clusterName=name, nodegroupName=group)["nodegroup"]
    assert (nodes["version"], nodes["releaseVersion"]) == ("1.36", "1.36.2-20260714")
    assert nodes["launchTemplate"]["version"] == "2"
    assert eks.list_access_entries(clusterName=name)["accessEntries"] == []
    assert "differences: 0" in cdk("diff", "KubernetesStack", assembly=after)
    assert "resources with drift: 0" in cdk("drift", "KubernetesStack", assembly=after)

    cdk("destroy", "--force", "KubernetesStack", assembly=after)
    assert "KubernetesStack" not in statuses(aws)
    assert eks.list_clusters()["clusters"] == []
    assert not [each for each in log_groups(aws) if "/aws/eks/" in each]
    # The next cluster of the name finds nothing in its way.
    cdk("deploy", *OF_KUBERNETES, assembly=before)
    assert statuses(aws)["KubernetesStack"] == "CREATE_COMPLETE"


OF_NOTIFICATIONS = ("NetworkStack", "StorageStack", "NotificationStack")


def test_who_is_told_is_deployed_changed_and_destroyed(
    aws: LocalAws,
    cdk: Cdk,
    assemble: Assemble,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "https://hooks.example.org/T0/B0"
    secret = aws.client("secretsmanager").create_secret(
        Name="hook", SecretString=json.dumps({"url": address, "authorization": "Bearer abc"})
    )["ARN"]
    before = assemble(notify_emails="jo@example.org", notify_webhook_secret_arn=secret)
    printed = cdk("deploy", "NotificationStack", assembly=before)
    assert statuses(aws) == complete(*OF_NOTIFICATIONS)
    assert address not in printed
    assert "Bearer" not in printed
    events = aws.client("events")
    [endpoint] = events.list_api_destinations()["ApiDestinations"]
    shown = events.describe_api_destination(Name=endpoint["Name"])
    assert shown["InvocationEndpoint"] == address
    assert {each["Protocol"] for each in subscriptions(aws)} == {"email"}
    check_rules_are_of_training_jobs(aws)
    assert "differences: 0" in cdk("diff", "NotificationStack", assembly=before)
    drift = cdk("drift", "NotificationStack", assembly=before)
    assert "resources with drift: 0" in drift
    assert address not in drift
    # `failed` and its like only, by default.
    [told] = told_by_a_head(aws, tmp_path, monkeypatch)
    assert {**told, "text": "", "time": ""} == {
        "text": "",
        "job": "mask-rcnn-efs-1",
        "platform": "ec2",
        "status": "failed",
        "secondary_status": "failed",
        "reason": "rank 1 said 'no'",
        "region": "us-east-1",
        "account": "123456789012",
        "time": "",
    }
    assert "status mask-rcnn-efs-1 --platform ec2" in told["text"]

    after = assemble(notify_emails="jo@example.org,vision@example.org", notify_states="failed")
    cdk("deploy", "NotificationStack", assembly=after)
    assert statuses(aws)["NotificationStack"] == "UPDATE_COMPLETE"
    assert events.list_api_destinations()["ApiDestinations"] == []
    assert len(subscriptions(aws)) == 2

    cdk("destroy", "--force", "NotificationStack", assembly=after)
    assert statuses(aws) == complete("NetworkStack", "StorageStack")
    assert events.list_rules()["Rules"] == []
    assert aws.client("sns").list_topics()["Topics"] == []


def subscriptions(aws: LocalAws) -> list[dict[str, str]]:
    found: list[dict[str, str]] = aws.client("sns").list_subscriptions()["Subscriptions"]
    return found


def check_rules_are_of_training_jobs(aws: LocalAws) -> None:
    """Check that rules of SageMaker name the role that StorageStack tells, and that all of them
    have dead letters of their own."""
    told = aws.client("cloudformation").describe_stacks(StackName="StorageStack")["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in told["Outputs"]}
    events = aws.client("events")
    rules = events.list_rules()["Rules"]
    assert len(rules) == 4
    for rule in rules:
        # What lets EventBridge take the targets' roles names rules so.
        assert rule["Name"].startswith("NotificationStack-")
        pattern = json.loads(rule["EventPattern"])
        if pattern["source"] == ["aws.sagemaker"]:
            assert pattern["detail"]["RoleArn"] == [outputs["TrainingRoleArn"]]
        else:
            assert pattern["account"] == ["123456789012"]
        targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        assert [each["Id"] for each in targets] == ["Topic", "Webhook"]
        assert {":sqs:" in each["DeadLetterConfig"]["Arn"] for each in targets} == {True}


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
