"""The EKS cluster, its nodes and its add-ons, with the settings of the matrix."""

from __future__ import annotations

import email
import json
from typing import Any

import pytest
import yaml

from stacks.constructs.gpu_node import accelerator, resources_of
from stacks.constructs.kubernetes_nodes import RESOURCE_TAG
from stacks.settings.kubernetes_versions import ADDONS
from tests.stacks.matrix import MATRIX, Synth, Synthesize, properties, resources
from training.instances import INSTANCES, find_instance

STACK = "KubernetesStack"

every_row = pytest.mark.parametrize("row", MATRIX)


def cluster(synth: Synth) -> dict[str, Any]:
    [found] = properties(synth.templates[STACK], "AWS::EKS::Cluster")
    return found


def nodes(synth: Synth, kind: str) -> dict[str, Any]:
    """Return the node group with a label."""
    [found] = [
        each
        for each in properties(synth.templates[STACK], "AWS::EKS::Nodegroup")
        if each["Labels"]["mask-rcnn/node"] == kind
    ]
    return found


def launch(synth: Synth, kind: str) -> dict[str, Any]:
    """Return the data of the launch template that a group refers to, in its newest version."""
    told = nodes(synth, kind)["LaunchTemplate"]
    name = told["Id"]["Ref"]
    assert told["Version"] == {"Fn::GetAtt": [name, "LatestVersionNumber"]}
    data: dict[str, Any] = synth.templates[STACK]["Resources"][name]["Properties"][
        "LaunchTemplateData"
    ]
    return data


def outputs(synth: Synth) -> dict[str, Any]:
    return {name: each["Value"] for name, each in synth.templates[STACK]["Outputs"].items()}


@every_row
def test_the_api_answers_inside_and_outside_only_where_the_settings_say(
    row: str, synth: Synthesize
) -> None:
    access = cluster(synth(row))["ResourcesVpcConfig"]
    chosen = [each for each in MATRIX[row].get("eks_api_cidrs", "").split(",") if each]
    assert access["EndpointPrivateAccess"] is True
    assert access["EndpointPublicAccess"] is bool(chosen)
    assert access.get("PublicAccessCidrs", []) == chosen
    assert outputs(synth(row))["ApiAccess"] == ("public" if chosen else "private")


@every_row
def test_secrets_are_encrypted_with_the_clusters_own_key(row: str, synth: Synthesize) -> None:
    [key] = resources(synth(row).templates[STACK], "AWS::KMS::Key")
    [encrypted] = cluster(synth(row))["EncryptionConfig"]
    assert encrypted == {
        "Resources": ["secrets"],
        "Provider": {"KeyArn": {"Fn::GetAtt": [key, "Arn"]}},
    }


@every_row
def test_everything_is_logged_to_a_group_that_is_there_before_the_cluster(
    row: str, synth: Synthesize
) -> None:
    template = synth(row).templates[STACK]
    [(name, group)] = resources(template, "AWS::Logs::LogGroup").items()
    [made] = resources(template, "AWS::EKS::Cluster").values()
    assert name in made["DependsOn"]
    # The name is EKS's choice: else it makes another, which nobody encrypts or empties.
    assert group["Properties"]["LogGroupName"] == f"/aws/eks/{made['Properties']['Name']}/cluster"
    days = int(MATRIX[row].get("eks_log_retention_days", 365))
    assert group["Properties"]["RetentionInDays"] == days
    kinds = made["Properties"]["Logging"]["ClusterLogging"]["EnabledTypes"]
    assert [each["Type"] for each in kinds] == [
        *("api", "audit", "authenticator", "controllerManager", "scheduler")
    ]


@every_row
def test_only_those_named_administer_the_cluster(row: str, synth: Synthesize) -> None:
    access = cluster(synth(row))["AccessConfig"]
    assert access == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    entries = properties(synth(row).templates[STACK], "AWS::EKS::AccessEntry")
    chosen = [each for each in MATRIX[row].get("eks_admin_arns", "").split(",") if each]
    assert sorted(each["PrincipalArn"] for each in entries) == sorted(chosen)
    for each in entries:
        [policy] = each["AccessPolicies"]
        assert "AmazonEKSClusterAdminPolicy" in str(policy["PolicyArn"])


def test_another_order_of_admins_is_no_change(synth: Synthesize) -> None:
    """A renamed entry would be made beside the old one, and EKS takes a principal once."""
    entries = resources(synth("kubernetes-of-an-office").templates[STACK], "AWS::EKS::AccessEntry")
    assert not [name for name in entries if "Admin1" in name and name[-1] == "1"]
    assert len({name[: len("ControlPlaneAdmin") + 8] for name in entries}) == 2


@every_row
def test_control_plane_and_nodes_are_in_the_training_group_and_nodes_in_one_for_balancers(
    row: str, synth: Synthesize
) -> None:
    done = synth(row)
    [training] = cluster(done)["ResourcesVpcConfig"]["SecurityGroupIds"]
    [(name, balancers)] = resources(done.templates[STACK], "AWS::EC2::SecurityGroup").items()
    tags = {tag["Key"]: tag["Value"] for tag in balancers["Properties"]["Tags"]}
    # The cloud provider changes the rules of the one group with this tag.
    assert tags[f"kubernetes.io/cluster/{cluster(done)['Name']}"] == "owned"
    assert "SecurityGroupIngress" not in balancers["Properties"]
    for kind in ("system", "gpu"):
        for interface in launch(done, kind)["NetworkInterfaces"]:
            assert interface["Groups"] == [training, {"Fn::GetAtt": [name, "GroupId"]}]
            assert interface.get("AssociatePublicIpAddress", False) is False


@every_row
def test_gpu_nodes_come_from_none_in_one_zone_and_system_nodes_stay_in_all(
    row: str, synth: Synthesize
) -> None:
    done, settings = synth(row), MATRIX[row]
    gpu, system = nodes(done, "gpu"), nodes(done, "system")
    most = int(settings.get("eks_max_nodes", 4))
    assert gpu["ScalingConfig"] == {"MinSize": 0, "DesiredSize": 0, "MaxSize": most}
    stay = int(settings.get("eks_system_nodes", 2))
    assert system["ScalingConfig"] == {"MinSize": stay, "DesiredSize": stay, "MaxSize": 2 * stay}
    everywhere = cluster(done)["ResourcesVpcConfig"]["SubnetIds"]
    assert system["Subnets"] == everywhere
    zone = int(settings.get("eks_zone", settings.get("fsx_zone", 1)))
    assert gpu["Subnets"] == [everywhere[zone - 1]]


@every_row
def test_nodes_are_as_new_as_their_control_plane(row: str, synth: Synthesize) -> None:
    done = synth(row)
    version = MATRIX[row].get("eks_version", "1.35")
    assert cluster(done)["Version"] == version
    assert cluster(done)["UpgradePolicy"] == {"SupportType": "STANDARD"}
    for kind, ami in (("system", "STANDARD"), ("gpu", "NVIDIA")):
        found = nodes(done, kind)
        assert found["AmiType"] == f"AL2023_x86_64_{ami}"
        assert found["Version"] == version
        assert found.get("ReleaseVersion") == MATRIX[row].get("eks_node_release")


def test_only_pods_that_want_gpus_run_on_their_nodes(synth: Synthesize) -> None:
    done = synth("default")
    assert nodes(done, "gpu")["Taints"] == [
        {"Key": "nvidia.com/gpu", "Value": "true", "Effect": "NO_SCHEDULE"}
    ]
    assert "Taints" not in nodes(done, "system")
    assert nodes(done, "gpu")["Labels"] == {
        "mask-rcnn/node": "gpu",
        "k8s.amazonaws.com/accelerator": "nvidia-a100",
    }


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ("default", 4),
        ("kubernetes-of-spot", 0),
        ("kubernetes-in-a-block", 16),
        ("kubernetes-without-efa", 0),
    ],
)
def test_gpu_nodes_have_the_efas_that_the_autoscaler_is_told_of(
    row: str, count: int, synth: Synthesize
) -> None:
    done = synth(row)
    kinds = [each.get("InterfaceType") for each in launch(done, "gpu")["NetworkInterfaces"]]
    assert kinds == [None, *["efa-only"] * count]
    told = nodes(done, "gpu")["Tags"]
    assert told.get(f"{RESOURCE_TAG}vpc.amazonaws.com/efa") == (str(count) if count else None)
    assert told.get(f"{RESOURCE_TAG}hugepages-2Mi") == ("10256Mi" if count else None)
    assert told[f"{RESOURCE_TAG}nvidia.com/gpu"] == "8"
    assert outputs(done)["Efa"] == str(bool(count)).lower()


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda each: each.name)
def test_labels_and_tags_are_such_as_aws_and_kubernetes_take(instance: Any) -> None:
    label = accelerator(instance)
    assert len(label) <= 63
    assert label.replace("-", "").isalnum()
    for name, amount in resources_of(instance, efa=1, gib=200).items():
        assert len(RESOURCE_TAG + name) <= 128
        assert int(amount.rstrip("GiM")) > 0


def test_room_for_pods_is_on_local_nvme_or_the_disk() -> None:
    with_nvme = resources_of(find_instance("p4d.24xlarge"), efa=4, gib=200)
    assert with_nvme["ephemeral-storage"] == "6705Gi"
    without = resources_of(find_instance("p3.16xlarge"), efa=0, gib=200)
    assert without == {"nvidia.com/gpu": "8", "ephemeral-storage": "180Gi"}


def test_user_data_is_what_nodeadm_reads_and_only_for_local_disks(synth: Synthesize) -> None:
    text = launch(synth("default"), "gpu")["UserData"]["Fn::Base64"]
    message = email.message_from_string(text)
    [part] = message.get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    assert yaml.safe_load(part.get_payload()) == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": "RAID0"}}},
    }
    # A p3.16xlarge has none.
    assert "UserData" not in launch(synth("kubernetes-of-spot"), "gpu")
    assert "UserData" not in launch(synth("default"), "system")


@every_row
def test_launch_templates_leave_to_eks_what_is_its_own(row: str, synth: Synthesize) -> None:
    """https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"""
    for kind in ("system", "gpu"):
        data = launch(synth(row), kind)
        assert not {"ImageId", "IamInstanceProfile", "KeyName"} & set(data)
        assert data["MetadataOptions"] == {
            "HttpEndpoint": "enabled",
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": 1,
        }
        [disk] = data["BlockDeviceMappings"]
        assert disk["Ebs"]["Encrypted"] is True
        assert "InstanceTypes" not in nodes(synth(row), kind)


def test_gpu_nodes_are_bought_as_the_settings_say(synth: Synthesize) -> None:
    spot, block = synth("kubernetes-of-spot"), synth("kubernetes-in-a-block")
    assert nodes(spot, "gpu")["CapacityType"] == "SPOT"
    # EKS says it itself then.
    assert "InstanceMarketOptions" not in launch(spot, "gpu")
    assert nodes(block, "gpu")["CapacityType"] == "CAPACITY_BLOCK"
    data = launch(block, "gpu")
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    }
    for done in (spot, block, synth("default")):
        assert nodes(done, "system")["CapacityType"] == "ON_DEMAND"


@pytest.mark.parametrize(
    ("row", "is_close"),
    [
        ("default", True),
        ("kubernetes-in-a-block", False),
        ("kubernetes-without-efa", False),
    ],
)
def test_gpu_nodes_are_close_together_unless_reserved(
    row: str, is_close: bool, synth: Synthesize
) -> None:
    groups = resources(synth(row).templates[STACK], "AWS::EC2::PlacementGroup")
    assert len(groups) == is_close
    placement = launch(synth(row), "gpu").get("Placement")
    assert placement == ({"GroupName": {"Ref": next(iter(groups))}} if is_close else None)
    assert "Placement" not in launch(synth(row), "system")


def addons(synth: Synth) -> dict[str, dict[str, Any]]:
    found = resources(synth.templates[STACK], "AWS::EKS::Addon")
    return {
        each["Properties"]["AddonName"]: {**each["Properties"], "id": name, "all": each}
        for name, each in found.items()
    }


@every_row
def test_addons_come_before_the_nodes_that_need_them_and_after_those_they_need(
    row: str, synth: Synthesize
) -> None:
    done = synth(row)
    found = addons(done)
    with_lustre = "FsxId" in done.templates["StorageStack"]["Outputs"]
    assert set(found) == set(ADDONS) - (set() if with_lustre else {"aws-fsx-csi-driver"})
    groups = resources(done.templates[STACK], "AWS::EKS::Nodegroup")
    first = {found[name]["id"] for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")}
    for group in groups.values():
        assert first <= set(group["DependsOn"])
    [system] = [n for n, g in groups.items() if "nvidia" not in json.dumps(g["Properties"])]
    for name in set(found) - {"vpc-cni", "kube-proxy", "eks-pod-identity-agent"}:
        assert system in found[name]["all"]["DependsOn"]


def test_network_policies_are_enforced_and_addons_pinned_where_asked(synth: Synthesize) -> None:
    network = addons(synth("default"))["vpc-cni"]
    assert json.loads(network["ConfigurationValues"]) == {"enableNetworkPolicy": "true"}
    assert "AddonVersion" not in network
    pinned = addons(synth("kubernetes-in-a-block"))
    assert pinned["vpc-cni"]["AddonVersion"] == "v1.20.4-eksbuild.1"
    assert "AddonVersion" not in pinned["coredns"]


@every_row
def test_pods_mount_efs_as_root_of_all_of_it(row: str, synth: Synthesize) -> None:
    [point] = properties(synth(row).templates[STACK], "AWS::EFS::AccessPoint")
    assert point["PosixUser"] == {"Uid": "0", "Gid": "0"}
    assert point["RootDirectory"] == {"Path": "/"}


@every_row
def test_a_protected_stack_has_a_protected_cluster(row: str, synth: Synthesize) -> None:
    protected = MATRIX[row].get("termination_protection") == "true"
    assert cluster(synth(row))["DeletionProtection"] is protected
