"""What the nodes of the cluster may do, action by action."""

from __future__ import annotations

import pytest

from tests.stacks.cluster_template import STACK
from tests.stacks.matrix import MATRIX, Synthesize, properties
from tests.stacks.statements import Statement, statements

every_row = pytest.mark.parametrize("row", MATRIX)

DATA = {
    "s3:AbortMultipartUpload",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:ListBucketMultipartUploads",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
    "kms:Decrypt",
    "kms:GenerateDataKey",
}
IMAGES = {
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
}
AGENT = {
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSSMManagedInstanceCore.html
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
}
NODE = {
    "autoscaling:DescribeAutoScalingGroups",
    "cloudformation:SignalResource",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
    "secretsmanager:GetSecretValue",
}
HEAD = {
    "autoscaling:DescribeScalingActivities",
    "autoscaling:SetDesiredCapacity",
    "autoscaling:SetInstanceHealth",
    "autoscaling:TerminateInstanceInAutoScalingGroup",
    "secretsmanager:PutSecretValue",
}
ROOT = {
    "elasticfilesystem:ClientMount",
    "elasticfilesystem:ClientRootAccess",
    "elasticfilesystem:ClientWrite",
}


def allowed(synth: Synthesize, row: str, node: str) -> list[Statement]:
    return [
        each
        for each in statements(synth(row))
        if each.where.startswith(f"{STACK}/{node}")
        and each.resource_type == "AWS::IAM::ManagedPolicy"
    ]


def allowing(action: str, synth: Synthesize, row: str, node: str) -> list[Statement]:
    return [each for each in allowed(synth, row, node) if action in each.actions]


def actions(found: list[Statement]) -> set[str]:
    return {action for each in found for action in each.actions}


def test_a_worker_may_train_and_no_more(synth: Synthesize) -> None:
    assert actions(allowed(synth, "default", "Worker")) == DATA | IMAGES | AGENT | NODE


LUSTRE = {
    "fsx:CreateDataRepositoryTask",
    "fsx:DescribeDataRepositoryAssociations",
    "fsx:DescribeDataRepositoryTasks",
    "fsx:DescribeFileSystems",
}
"""For `stage --on ec2`, where there is FSx for Lustre."""


def test_a_head_may_conduct_too(synth: Synthesize) -> None:
    assert actions(allowed(synth, "no-fsx", "Head")) == DATA | IMAGES | AGENT | NODE | HEAD
    everything = DATA | IMAGES | AGENT | NODE | HEAD | LUSTRE
    assert actions(allowed(synth, "default", "Head")) == everything
    with_ssh = everything | ROOT | {"ec2:AssociateAddress"}
    assert actions(allowed(synth, "cluster-with-ssh", "Head")) == with_ssh


def test_only_the_head_may_tell_of_jobs_and_only_where_somebody_is_told(synth: Synthesize) -> None:
    assert allowing("events:PutEvents", synth, "default", "Head") == []
    assert allowing("events:PutEvents", synth, "notified", "Worker") == []
    [telling] = allowing("events:PutEvents", synth, "notified", "Head")
    assert telling.actions == ("events:PutEvents",)
    [bus] = telling.resources
    assert bus["Fn::Join"][1][-1] == ":event-bus/default"
    assert "*" not in str(bus)
    assert telling.conditions == {
        "StringEquals": {
            "events:source": "distributed-mask-rcnn",
            "events:detail-type": "Training Job State Change",
        }
    }


@pytest.mark.parametrize("node", ["Head", "Worker"])
def test_nodes_are_root_on_efs_by_their_roles_only_where_nobody_else_is(
    node: str, synth: Synthesize
) -> None:
    assert actions(allowed(synth, "provisioned-efs", node)) >= ROOT
    assert actions(allowed(synth, "default", node)) & ROOT == set()


@every_row
def test_the_head_changes_the_two_groups_of_its_cluster_alone(row: str, synth: Synthesize) -> None:
    name = MATRIX[row].get("cluster_name", "distributed-mask-rcnn")
    [sizing] = allowing("autoscaling:SetDesiredCapacity", synth, row, "Head")
    assert sizing.actions == ("autoscaling:SetDesiredCapacity",)
    [ending] = allowing("autoscaling:SetInstanceHealth", synth, row, "Head")
    for each, names in ((sizing, ["workers"]), (ending, ["head", "workers"])):
        ends = [str(arn).rpartition(":autoScalingGroupName/")[2] for arn in each.resources]
        assert [end.rstrip("']}") for end in ends] == [f"{name}-{kind}" for kind in names]


@every_row
@pytest.mark.parametrize("node", ["Head", "Worker"])
def test_a_node_signals_its_own_stack_alone(node: str, row: str, synth: Synthesize) -> None:
    [signalling] = allowing("cloudformation:SignalResource", synth, row, node)
    assert signalling.resources == ({"Ref": "AWS::StackId"},)


@pytest.mark.parametrize("node", ["Head", "Worker"])
def test_only_images_with_the_projects_tag_are_pulled(node: str, synth: Synthesize) -> None:
    [pulling] = allowing("ecr:BatchGetImage", synth, "governed", node)
    assert pulling.conditions == {"StringEquals": {"aws:ResourceTag/Project": "segmentation"}}


@pytest.mark.parametrize("node", ["Head", "Worker"])
def test_secret_and_log_are_the_clusters_own(node: str, synth: Synthesize) -> None:
    for action, kind in (
        ("secretsmanager:GetSecretValue", "AWS::SecretsManager::Secret"),
        ("logs:PutLogEvents", "AWS::Logs::LogGroup"),
    ):
        [each] = allowing(action, synth, "default", node)
        [resource] = each.resources
        template = synth("default").templates[STACK]
        [own] = [k for k, r in template["Resources"].items() if r["Type"] == kind]
        assert own in str(resource)


def test_the_head_takes_the_clusters_address_and_no_other(synth: Synthesize) -> None:
    address, on_itself = allowing("ec2:AssociateAddress", synth, "cluster-with-ssh", "Head")
    [allocation] = address.resources
    assert "AllocationId" in str(allocation)
    assert "*" not in str(allocation)
    assert on_itself.conditions == {
        "StringEquals": {"aws:ResourceTag/Project": "distributed-mask-rcnn"}
    }


@every_row
def test_only_ec2_takes_the_roles(row: str, synth: Synthesize) -> None:
    found = properties(synth(row).templates[STACK], "AWS::IAM::Role")
    assert len(found) == 2
    for role in found:
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": "ec2.amazonaws.com"}
    profiles = properties(synth(row).templates[STACK], "AWS::IAM::InstanceProfile")
    assert [len(each["Roles"]) for each in profiles] == [1, 1]


@pytest.mark.parametrize("node", ["Head", "Worker"])
def test_a_prefix_holds_nodes_to_its_folder_and_nobody_deletes_objects(
    node: str, synth: Synthesize
) -> None:
    [objects] = allowing("s3:PutObject", synth, "existing-bucket", node)
    assert [str(arn).endswith("/ml-platform/*']]}") for arn in objects.resources] == [True]
    assert not [
        each
        for each in actions(allowed(synth, "default", node))
        if "Delete" in each and each.startswith("s3:")
    ]
