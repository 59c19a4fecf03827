"""What the control plane, the nodes and the pods of the EKS cluster may do, action by action."""

from __future__ import annotations

import pytest

from tests.stacks.matrix import MATRIX, Synthesize, properties, resources
from tests.stacks.statements import Statement, statements

STACK = "KubernetesStack"
ROLES = {
    "ControlPlane": "eks.amazonaws.com",
    "Nodes": "ec2.amazonaws.com",
    "Autoscaler": "pods.eks.amazonaws.com",
    "Jobs": "pods.eks.amazonaws.com",
    "AddonsVpcCniPods": "pods.eks.amazonaws.com",
    "AddonsAwsEfsCsiDriverPods": "pods.eks.amazonaws.com",
    "AddonsAwsFsxCsiDriverPods": "pods.eks.amazonaws.com",
}
"""Role to who takes it."""

ACCOUNTS = {
    ("kube-system", "aws-node"),
    ("kube-system", "cluster-autoscaler"),
    ("kube-system", "efs-csi-controller-sa"),
    ("kube-system", "fsx-csi-controller-sa"),
    ("kubeflow", "mask-rcnn"),
}

every_row = pytest.mark.parametrize("row", MATRIX)


def allowed(synth: Synthesize, row: str, role: str) -> list[Statement]:
    return [
        each
        for each in statements(synth(row))
        if each.where.startswith(f"{STACK}/{role}")
        and each.resource_type == "AWS::IAM::ManagedPolicy"
    ]


def allowing(action: str, synth: Synthesize, row: str, role: str) -> list[Statement]:
    return [each for each in allowed(synth, row, role) if action in each.actions]


def actions(found: list[Statement]) -> set[str]:
    return {action for each in found for action in each.actions}


@every_row
def test_each_role_is_taken_by_its_service_alone(row: str, synth: Synthesize) -> None:
    found = resources(synth(row).templates[STACK], "AWS::IAM::Role")
    lustre = "FsxId" in synth(row).templates["StorageStack"]["Outputs"]
    expected = {k: v for k, v in ROLES.items() if lustre or "Fsx" not in k}
    taken = {}
    for name, role in found.items():
        [statement] = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        [key] = [each for each in expected if name.startswith(f"{each}Role")]
        taken[key] = statement["Principal"]["Service"]
    assert taken == expected


@every_row
def test_pods_take_their_role_by_cluster_namespace_and_account(row: str, synth: Synthesize) -> None:
    name = MATRIX[row].get("eks_name", "distributed-mask-rcnn")
    found = set()
    for role in properties(synth(row).templates[STACK], "AWS::IAM::Role"):
        [statement] = role["AssumeRolePolicyDocument"]["Statement"]
        if statement["Principal"] != {"Service": "pods.eks.amazonaws.com"}:
            continue
        assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
        told = statement["Condition"]["StringEquals"]
        assert told["aws:RequestTag/eks-cluster-name"] == name
        found.add(
            (
                told["aws:RequestTag/kubernetes-namespace"],
                told["aws:RequestTag/kubernetes-service-account"],
            )
        )
    assert found == ACCOUNTS - (
        set()
        if "FsxId" in synth(row).templates["StorageStack"]["Outputs"]
        else {("kube-system", "fsx-csi-controller-sa")}
    )


def test_associations_name_the_same_accounts_as_the_roles(synth: Synthesize) -> None:
    template = synth("default").templates[STACK]
    told = {
        (each["Namespace"], each["ServiceAccount"])
        for each in properties(template, "AWS::EKS::PodIdentityAssociation")
    }
    told |= {
        ("kube-system", each["ServiceAccount"])
        for addon in properties(template, "AWS::EKS::Addon")
        for each in addon.get("PodIdentityAssociations", [])
    }
    assert told == ACCOUNTS


def test_jobs_use_the_bucket_as_the_nodes_of_the_other_cluster_do_and_nothing_else(
    synth: Synthesize,
) -> None:
    data = {
        "s3:AbortMultipartUpload",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:ListBucketMultipartUploads",
        "s3:ListMultipartUploadParts",
        "s3:PutObject",
        "kms:Decrypt",
        "kms:GenerateDataKey",
    }
    assert actions(allowed(synth, "no-fsx", "Jobs")) == data
    assert actions(allowed(synth, "default", "Jobs")) == data | {
        "fsx:CreateDataRepositoryTask",
        "fsx:DescribeDataRepositoryAssociations",
        "fsx:DescribeDataRepositoryTasks",
        "fsx:DescribeFileSystems",
    }
    [objects] = allowing("s3:PutObject", synth, "existing-bucket", "Jobs")
    assert [str(arn).endswith("/ml-platform/*']]}") for arn in objects.resources] == [True]


def test_nodes_join_pull_and_hand_out_roles(synth: Synthesize) -> None:
    found = actions(allowed(synth, "default", "Nodes"))
    assert {each for each in found if not each.startswith("ec2:Describe")} == {
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
        "eks:DescribeCluster",
        "eks-auth:AssumeRoleForPodIdentity",
    }


@pytest.mark.parametrize(("row", "may"), [("default", False), ("kubernetes-of-an-office", True)])
def test_nodes_are_root_on_efs_by_their_role_only_where_nobody_else_is(
    row: str, may: bool, synth: Synthesize
) -> None:
    found = actions(allowed(synth, row, "Nodes"))
    assert ("elasticfilesystem:ClientRootAccess" in found) is may


@every_row
def test_the_autoscaler_sizes_the_groups_of_its_own_cluster(row: str, synth: Synthesize) -> None:
    name = MATRIX[row].get("eks_name", "distributed-mask-rcnn")
    [sizing] = allowing("autoscaling:SetDesiredCapacity", synth, row, "Autoscaler")
    assert set(sizing.actions) == {
        "autoscaling:SetDesiredCapacity",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
    }
    assert sizing.conditions == {
        "StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{name}": "owned"}
    }
    [looking] = allowing("eks:DescribeNodegroup", synth, row, "Autoscaler")
    assert f"nodegroup/{name}/*" in str(looking.resources)


@every_row
def test_the_network_plugin_changes_interfaces_of_its_vpc_and_nodes_of_its_project(
    row: str, synth: Synthesize
) -> None:
    project = MATRIX[row].get("project", "distributed-mask-rcnn")
    changing = allowing("ec2:AttachNetworkInterface", synth, row, "AddonsVpcCniPods")
    by_resource = {
        "instance" if ":instance/*" in str(each.resources) else "interface": each.conditions
        for each in changing
    }
    assert by_resource["instance"] == {"StringEquals": {"aws:ResourceTag/Project": project}}
    assert list(by_resource["interface"]) == ["ArnLike"]
    assert list(by_resource["interface"]["ArnLike"]) == ["ec2:Vpc"]


def test_load_balancers_open_one_security_group_and_no_other(synth: Synthesize) -> None:
    [opening] = allowing("ec2:AuthorizeSecurityGroupIngress", synth, "default", "ControlPlane")
    [resource] = opening.resources
    [group] = resources(synth("default").templates[STACK], "AWS::EC2::SecurityGroup")
    assert group in str(resource)
    [making] = allowing("elasticloadbalancing:CreateLoadBalancer", synth, "default", "ControlPlane")
    assert all("/net/*" in str(arn) or "targetgroup/" in str(arn) for arn in making.resources)


def test_eks_looks_things_up_and_drivers_make_nothing(synth: Synthesize) -> None:
    for role in ("AddonsAwsEfsCsiDriverPods", "AddonsAwsFsxCsiDriverPods"):
        found = actions(allowed(synth, "default", role))
        assert found
        assert all(each.partition(":")[2].startswith("Describe") for each in found)
