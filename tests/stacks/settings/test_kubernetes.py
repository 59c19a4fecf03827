"""Settings of the Kubernetes cluster, alone and with those of other parts."""

from __future__ import annotations

from typing import Any

import pytest

from stacks.settings import Settings
from stacks.settings.cluster_types import OF_CAPACITY_BLOCKS
from stacks.settings.kubernetes import KubernetesSettings
from stacks.settings.kubernetes_rules import WITHOUT_AN_AMI
from stacks.settings.kubernetes_versions import DEFAULT_VERSION, VERSIONS
from training.errors import UsageError
from training.instances import INSTANCES

HOME = "203.0.113.0/24"
ADMIN = "arn:aws:iam::123456789012:role/Admin"
RESERVED = {"eks_capacity_reservation_id": "cr-0123456789abcdef0"}


def message_of(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_by_default_nobody_is_let_in_and_no_gpu_runs() -> None:
    kubernetes = KubernetesSettings()
    assert (kubernetes.is_public, kubernetes.admin_arns) == (False, ())
    assert kubernetes.version == DEFAULT_VERSION == "1.35"
    assert (kubernetes.gpu_instance_type, kubernetes.gpu_efa) == ("p4d.24xlarge", 4)
    assert (kubernetes.max_nodes, kubernetes.system_nodes, kubernetes.most_system_nodes) == (
        *(4, 2, 4),
    )
    assert (kubernetes.has_placement_group, kubernetes.spot) == (True, False)


def test_the_default_is_in_the_middle_of_what_the_tools_speak_with() -> None:
    minors = [int(version.partition(".")[2]) for version in VERSIONS]
    default = int(DEFAULT_VERSION.partition(".")[2])
    assert all(abs(minor - default) <= 1 for minor in minors)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("version", "1.36", None),
        ("version", "1.33", "speak with 1.34, 1.35, 1.36"),
        ("version", "latest", "speak with 1.34, 1.35, 1.36"),
        ("api_cidrs", HOME, None),
        ("api_cidrs", f"{HOME},198.51.100.7/32", None),
        ("api_cidrs", "203.0.113.7/24", "'203.0.113.7/24' is no network"),
        ("api_cidrs", "2001:db8::/32", "is an IPv6 network, and the cluster's API has IPv4 only"),
        ("api_cidrs", "0.0.0.0/0", "lets everybody call the cluster's API"),
        ("api_cidrs", "128.0.0.0/1", "lets a large part of the internet call"),
        ("api_cidrs", "10.0.0.0/8", "is no network of the internet"),
        ("api_cidrs", "172.30.0.0/16", "is no network of the internet"),
        ("api_cidrs", ",".join(f"203.0.113.{n}/32" for n in range(41)), "41 networks"),
        ("admin_arns", f"{ADMIN},arn:aws:iam::123456789012:user/team/jo", None),
        ("admin_arns", f"{ADMIN},{ADMIN}", "an ARN is there twice"),
        (
            "admin_arns",
            "arn:aws:sts::123456789012:assumed-role/Admin/me",
            "it is a session of a role: name the role itself",
        ),
        ("admin_arns", "Admin", "it is not the ARN of a role or a user of IAM"),
        ("admin_arns", "arn:aws:iam::123456789012:root", "it is not the ARN of a role or a user"),
        ("gpu_instance_type", "p3.16xlarge", None),
        ("gpu_instance_type", "p3dn.24xlarge", None),
        ("gpu_instance_type", "g7e.2xlarge", None),
        ("gpu_instance_type", "g7.2xlarge", "has no driver for its GPUs (which want driver 595)"),
        ("gpu_instance_type", "p2.xlarge", "has no driver for its GPUs (K80"),
        ("gpu_instance_type", "m6i.xlarge", "it has no NVIDIA GPU"),
        ("gpu_instance_type", "p6e-gb200.36xlarge", "has ARM processors"),
        ("gpu_instance_type", "ml.p4d.24xlarge", "take p4d.24xlarge"),
        ("system_instance_type", "m7g.xlarge", "m7g has ARM processors"),
        ("max_nodes", 0, "eks_max_nodes"),
        ("max_nodes", 451, "eks_max_nodes"),
        ("node_release", "1.35.6-20260714", None),
        ("node_release", "1.36.1-20260714", "is not of eks_version = 1.35"),
        ("node_release", "latest", "eks_node_release"),
        ("addon_versions", "vpc-cni=v1.20.4-eksbuild.1", None),
        ("addon_versions", "vpc-cni=latest", "'latest' is no version of vpc-cni"),
        ("addon_versions", "ingress=v1", "'ingress' is no add-on of the cluster's"),
        ("name", "9lives", "eks_name"),
        ("log_retention_days", 8, "CloudWatch Logs does not offer it"),
    ],
)
def test_each_value_is_judged_by_itself(key: str, value: Any, said: str | None) -> None:
    context = {f"eks_{key}": value}
    if said is None:
        Settings.from_context(context)
    else:
        assert said in message_of(context)


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"eks_capacity_block": "true"}, "needs eks_capacity_reservation_id"),
        (
            RESERVED | {"eks_capacity_block": "true", "eks_gpu_instance_type": "g5.48xlarge"},
            "eks_gpu_instance_type = g5.48xlarge is not sold in Capacity Blocks",
        ),
        (RESERVED | {"eks_spot": "true"}, "eks_spot = true does not go with"),
        (RESERVED | {"eks_placement_group": "create"}, "reserved capacity has its place already"),
        ({"eks_zone": 4}, "eks_zone = 4, but there are 3 private subnets: take 1 to 3"),
        (
            {"vpc_cidr": "172.30.0.0/25", "eks_max_nodes": 30},
            "and the private subnet 172.30.0.32/27 has 27: take at most 23",
        ),
        (
            {"aws_region": "cn-north-1", "fsx": "none", "eks_admin_arns": ADMIN},
            "is of the partition aws, and aws_region = cn-north-1 of aws-cn",
        ),
    ],
)
def test_what_does_not_go_together_is_told_with_the_way_out(
    context: dict[str, Any], said: str
) -> None:
    assert said in message_of(context)


def test_who_wants_an_open_api_says_so() -> None:
    open_to_all = {"eks_api_cidrs": "0.0.0.0/0", "eks_allow_open_api": "true"}
    assert Settings.from_context(open_to_all).kubernetes.is_public


def test_gpu_nodes_are_near_lustre_unless_told_otherwise() -> None:
    assert Settings.from_context({"fsx_zone": 3}).kubernetes_zone == 3
    assert Settings.from_context({"fsx_zone": 3, "eks_zone": 2}).kubernetes_zone == 2
    assert Settings.from_context({"fsx_zone": 3, "fsx": "none"}).kubernetes_zone == 1


def test_reserved_capacity_has_its_place() -> None:
    assert not Settings.from_context(RESERVED).kubernetes.has_placement_group
    assert Settings.from_context({"eks_efa": "none"}).kubernetes.gpu_efa == 0


@pytest.mark.parametrize("family", OF_CAPACITY_BLOCKS)
def test_types_of_blocks_can_be_nodes(family: str) -> None:
    name = next(each.name for each in INSTANCES if each.family == family)
    context = RESERVED | {"eks_capacity_block": "true", "eks_gpu_instance_type": name}
    assert Settings.from_context(context).kubernetes.gpu_instance_type == name


def test_families_without_an_ami_are_families_that_there_are() -> None:
    assert set(WITHOUT_AN_AMI) <= {each.family for each in INSTANCES}
