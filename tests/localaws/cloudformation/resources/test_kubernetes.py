"""Clusters of EKS and what belongs to them, made and changed by a stack."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

NAME = "cluster-of-a-test"
PODS = "pods.eks.amazonaws.com"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
ALICE = "arn:aws:iam::123456789012:role/team/Alice"


def role(service: str) -> dict[str, Any]:
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": service},
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document}}


def of_cluster(kind: str, **properties: Any) -> dict[str, Any]:
    return {
        "Type": f"AWS::EKS::{kind}",
        "Properties": {"ClusterName": {"Ref": "Cluster"}, **properties},
    }


def subnet(number: int, zone: str) -> dict[str, Any]:
    return {
        "Type": "AWS::EC2::Subnet",
        "Properties": {
            "VpcId": {"Ref": "Vpc"},
            "CidrBlock": f"10.0.{number}.0/24",
            "AvailabilityZone": zone,
        },
    }


def whole_cluster(name: str) -> Resources:
    arn = {"Fn::GetAtt": ["Role", "Arn"]}
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "First": subnet(0, "us-east-1a"),
        "Second": subnet(1, "us-east-1b"),
        "Role": role("eks.amazonaws.com"),
        "Cluster": {
            "Type": "AWS::EKS::Cluster",
            "Properties": {
                "Name": name,
                "Version": "1.35",
                "RoleArn": arn,
                "ResourcesVpcConfig": {
                    "SubnetIds": [{"Ref": "First"}, {"Ref": "Second"}],
                    "EndpointPrivateAccess": True,
                    "EndpointPublicAccess": False,
                },
                "AccessConfig": {"AuthenticationMode": "API"},
                "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "api"}]}},
                "UpgradePolicy": {"SupportType": "STANDARD"},
                "DeletionProtection": False,
                "Tags": [{"Key": "Project", "Value": "test"}],
            },
        },
        "Launch": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {"LaunchTemplateData": {"InstanceType": "p4d.24xlarge"}},
        },
        "Nodes": of_cluster(
            "Nodegroup",
            NodeRole=arn,
            Subnets=[{"Ref": "First"}],
            AmiType="AL2023_x86_64_NVIDIA",
            CapacityType="ON_DEMAND",
            Version="1.35",
            ScalingConfig={"MinSize": 0, "DesiredSize": 0, "MaxSize": 4},
            UpdateConfig={"MaxUnavailablePercentage": 25},
            Labels={"mask-rcnn/node": "gpu"},
            Taints=[{"Key": "nvidia.com/gpu", "Value": "true", "Effect": "NO_SCHEDULE"}],
            LaunchTemplate={
                "Id": {"Ref": "Launch"},
                "Version": {"Fn::GetAtt": ["Launch", "LatestVersionNumber"]},
            },
            Tags={"Project": "test"},
        ),
        "Dns": of_cluster("Addon", AddonName="coredns", ResolveConflicts="OVERWRITE"),
        "Network": of_cluster(
            "Addon",
            AddonName="vpc-cni",
            ConfigurationValues='{"enableNetworkPolicy": "true"}',
            PodIdentityAssociations=[{"RoleArn": arn, "ServiceAccount": "aws-node"}],
        ),
        "Alice": of_cluster(
            "AccessEntry",
            PrincipalArn=ALICE,
            AccessPolicies=[{"PolicyArn": ADMIN, "AccessScope": {"Type": "cluster"}}],
        ),
        "Jobs": of_cluster(
            "PodIdentityAssociation",
            Namespace="kubeflow",
            ServiceAccount="mask-rcnn",
            RoleArn=arn,
        ),
    }


def drift(stack: Stack) -> dict[str, Any]:
    stack.cloudformation.detect_stack_drift(StackName=stack.name)
    found = stack.cloudformation.describe_stack_resource_drifts(StackName=stack.name)
    return {
        each["LogicalResourceId"]: each["PropertyDifferences"] or each["StackResourceDriftStatus"]
        for each in found["StackResourceDrifts"]
        if each["StackResourceDriftStatus"] != "IN_SYNC"
    }


def test_cluster_is_made_changed_and_deleted(local_aws: LocalAws, stack: Stack) -> None:
    eks, resources = local_aws.client("eks"), whole_cluster(NAME)
    stack.create(resources)
    group = stack.ids()["Nodes"].partition("/")[2]
    cluster = eks.describe_cluster(name=NAME)["cluster"]
    assert (cluster["version"], cluster["accessConfig"]["authenticationMode"]) == ("1.35", "API")
    nodes = eks.describe_nodegroup(clusterName=NAME, nodegroupName=group)["nodegroup"]
    assert nodes["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}]
    assert nodes["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 4}
    assert eks.list_addons(clusterName=NAME)["addons"] == ["coredns", "vpc-cni"]
    assert eks.list_access_entries(clusterName=NAME)["accessEntries"] == [ALICE]
    accounts = eks.list_pod_identity_associations(clusterName=NAME)["associations"]
    assert {each["serviceAccount"] for each in accounts} == {"aws-node", "mask-rcnn"}
    assert drift(stack) == {}

    newer = deepcopy(resources)
    newer["Cluster"]["Properties"]["Version"] = "1.36"
    newer["Nodes"]["Properties"]["Version"] = "1.36"
    newer["Nodes"]["Properties"]["ScalingConfig"]["MaxSize"] = 8
    newer["Launch"]["Properties"]["LaunchTemplateData"]["InstanceType"] = "p5.48xlarge"
    for name in ("Cluster", "Dns", "Alice", "Jobs"):
        newer[name]["Properties"]["Tags"] = [{"Key": "Team", "Value": "Vision"}]
    newer["Nodes"]["Properties"]["Tags"] = {"Team": "Vision"}
    done = stack.update(newer)
    assert done["StackStatus"] == "UPDATE_COMPLETE", done.get("StackStatusReason")
    nodes = eks.describe_nodegroup(clusterName=NAME, nodegroupName=group)["nodegroup"]
    assert (nodes["version"], nodes["scalingConfig"]["maxSize"]) == ("1.36", 8)
    assert nodes["launchTemplate"]["version"] == "2"
    assert nodes["tags"] == eks.describe_cluster(name=NAME)["cluster"]["tags"] == {"Team": "Vision"}
    assert drift(stack) == {}

    eks.update_cluster_config(
        name=NAME, resourcesVpcConfig={"endpointPublicAccess": True, "publicAccessCidrs": ["::/0"]}
    )
    [difference] = drift(stack)["Cluster"]
    assert difference["PropertyPath"] == "/ResourcesVpcConfig/EndpointPublicAccess"
    stack.delete()
    assert NAME not in eks.list_clusters()["clusters"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Cluster": {"Version": "1.12"}}, "unsupported Kubernetes version 1.12"),
        ({"Second": {"AvailabilityZone": "us-east-1a"}}, "at least two different AZs"),
        (
            {"Launch": {"LaunchTemplateData": {"IamInstanceProfile": {"Name": "mine"}}}},
            "must not specify IamInstanceProfile",
        ),
        (
            {"Launch": {"LaunchTemplateData": {"ImageId": "ami-12345678"}}},
            "You cannot specify an AMI type and an image id",
        ),
        (
            {"Launch": {"LaunchTemplateData": {"InstanceMarketOptions": {"MarketType": "spot"}}}},
            "must not specify InstanceMarketOptions",
        ),
        ({"Nodes": {"CapacityType": "CAPACITY_BLOCK"}}, "needs a launch template with the market"),
        (
            {"Nodes": {"ScalingConfig": {"MinSize": 2, "DesiredSize": 0, "MaxSize": 4}}},
            "Minimum capacity can't be greater",
        ),
    ],
)
def test_what_eks_refuses_is_refused(
    changes: dict[str, dict[str, Any]], said: str, stack: Stack
) -> None:
    resources = whole_cluster(f"{NAME}-refused")
    for name, properties in changes.items():
        resources[name]["Properties"] |= properties
    assert stack.create(resources)["StackStatus"] == "ROLLBACK_COMPLETE"
    events = stack.cloudformation.describe_stack_events(StackName=stack.name)["StackEvents"]
    assert [e for e in events if said in e.get("ResourceStatusReason", "")], events
    stack.delete()


def test_version_goes_up_by_one_and_protection_holds(local_aws: LocalAws, stack: Stack) -> None:
    eks, name = local_aws.client("eks"), f"{NAME}-kept"
    resources = whole_cluster(name)
    resources["Cluster"]["Properties"] |= {"DeletionProtection": True, "Version": "1.34"}
    resources["Nodes"]["Properties"]["Version"] = "1.34"
    stack.create(resources)
    with pytest.raises(ClientError, match=r"minor version update from 1\.34"):
        eks.update_cluster_version(name=name, version="1.36")
    group = eks.list_nodegroups(clusterName=name)["nodegroups"][0]
    with pytest.raises(ClientError, match="newer than the cluster's"):
        eks.update_nodegroup_version(clusterName=name, nodegroupName=group, version="1.35")
    eks.delete_nodegroup(clusterName=name, nodegroupName=group)
    with pytest.raises(ClientError, match="deletion protection"):
        eks.delete_cluster(name=name)
    eks.update_cluster_config(name=name, deletionProtection=False)
    stack.delete()
    assert name not in eks.list_clusters()["clusters"]


def test_it_says_until_when_a_version_is_supported(local_aws: LocalAws) -> None:
    [found] = local_aws.client("eks").describe_cluster_versions(clusterVersions=["1.35"])[
        "clusterVersions"
    ]
    assert found["clusterVersion"] == "1.35"
    assert str(found["endOfStandardSupportDate"])[:10] == "2027-03-27"
