"""Version, zones, subnets and users of the Kubernetes cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    IDENTITY,
    REGION,
    ZONES,
    Network,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
    own,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.aws.eks import Eks
from training.aws.iam import Iam
from training.aws.sts import Identity
from training.preflight.stacks.kubernetes_access import (
    AdminsAreNamed,
    AdminsAreThere,
    ApiIsNarrow,
)
from training.preflight.stacks.kubernetes_subnets import ControlPlaneHasRoom, ControlPlaneHasZones
from training.preflight.stacks.kubernetes_version import (
    KubernetesIsRaisedByOne,
    KubernetesIsSupported,
)
from training.preflight.stacks.own import OwnResources
from training.preflight.stacks.planned_zones import PlannedZones

ADMIN = f"arn:aws:iam::{ACCOUNT}:role/team/Admin"


def supported(stub: Stub, *found: dict[str, Any]) -> KubernetesIsSupported:
    answer = ("describe_cluster_versions", {"clusterVersions": list(found)})
    client = stub("eks", (*answer, {"clusterVersions": ["1.35"]}))
    return KubernetesIsSupported(eks=Eks(client), region=REGION, version="1.35")


def test_a_version_in_standard_support_passes(stub: Stub) -> None:
    assert codes_of(supported(stub, {"versionStatus": "STANDARD_SUPPORT"})) == []


def test_a_version_that_eks_lacks_or_no_longer_supports_is_told(stub: Stub) -> None:
    only_finding_of(supported(stub), "kubernetes-version-unknown")
    ended = datetime(2027, 3, 27, tzinfo=UTC)
    old = {"versionStatus": "EXTENDED_SUPPORT", "endOfStandardSupportDate": ended}
    finding = only_finding_of(supported(stub, old), "kubernetes-version-unsupported")
    assert "1.35, which is no longer in standard support since 2027-03-27" in finding.message


def raised(stub: Stub, has: str | None, wanted: str, ours: OwnResources) -> KubernetesIsRaisedByOne:
    answer: Any = {"cluster": {"version": has}} if has else "ResourceNotFoundException"
    client = stub("eks", ("describe_cluster", answer, {"name": "mine"}))
    return KubernetesIsRaisedByOne(
        eks=Eks(client), region=REGION, name="mine", version=wanted, own=ours
    )


OURS = own("mine", stack="KubernetesStack")


@pytest.mark.parametrize(
    ("has", "wanted", "codes"),
    [
        (None, "1.35", []),
        ("1.35", "1.35", []),
        ("1.35", "1.36", []),
        ("1.36", "1.35", ["kubernetes-version-lower"]),
        ("1.34", "1.36", ["kubernetes-version-skipped"]),
    ],
)
def test_a_cluster_goes_up_by_one_version(
    stub: Stub, has: str | None, wanted: str, codes: list[str]
) -> None:
    assert codes_of(raised(stub, has, wanted, OURS)) == codes


def test_it_says_which_version_comes_next(stub: Stub) -> None:
    finding = only_finding_of(raised(stub, "1.34", "1.36", OURS), "kubernetes-version-skipped")
    assert finding.message.endswith("Deploy with eks_version=1.35 first")


def test_a_cluster_of_others_keeps_its_name(stub: Stub) -> None:
    finding = only_finding_of(raised(stub, "1.35", "1.35", own()), "kubernetes-name-taken")
    assert finding.path == "eks_name"


def zones(stub: Stub, *ids: str) -> ControlPlaneHasZones:
    described = [
        {"ZoneName": name, "ZoneId": zone_id, "State": "available"}
        for name, zone_id in zip(ZONES, ids, strict=True)
    ]
    asked = {"Filters": [{"Name": "zone-type", "Values": ["availability-zone"]}]}
    client = stub("ec2", ("describe_availability_zones", {"AvailabilityZones": described}, asked))
    return ControlPlaneHasZones(
        ec2=Ec2(client), planned=PlannedZones(ZONES, 3), zones_key="availability_zones"
    )


def test_a_zone_without_control_planes_is_told(stub: Stub) -> None:
    assert codes_of(zones(stub, "use1-az1", "use1-az2", "use1-az4")) == []
    found = only_finding_of(
        zones(stub, "use1-az1", "use1-az3", "use1-az4"), "kubernetes-zone-unsupported"
    )
    assert "in us-east-1b (use1-az3), where EKS has no control plane" in found.message
    assert found.message.endswith("set availability_zones to some of us-east-1a, us-east-1c")


def test_every_subnet_has_room_for_the_control_plane(aws: Clients, network: Network) -> None:
    small = network.ec2.create_subnet(
        VpcId=network.vpc_id, CidrBlock="10.0.8.0/28", AvailabilityZone=ZONES[0]
    )["Subnet"]["SubnetId"]
    network.ec2.create_network_interface(SubnetId=small, SecondaryPrivateIpAddressCount=5)
    ids = [network.subnet_ids[0], small]
    check = ControlPlaneHasRoom(ec2=aws.ec2, subnet_ids=ids, own=own())
    found = only_finding_of(check, "kubernetes-subnet-full")
    assert f"{small} has 5 free addresses, and EKS wants 6" in found.message
    # One that is there has them already.
    assert codes_of(ControlPlaneHasRoom(ec2=aws.ec2, subnet_ids=ids, own=OURS)) == []


def test_an_api_that_is_open_to_all_is_told() -> None:
    assert codes_of(ApiIsNarrow(networks=[])) == []
    assert (
        "0.0.0.0/0"
        in only_finding_of(ApiIsNarrow(networks=["0.0.0.0/0"]), "kubernetes-api-open").message
    )


def admins(
    aws: Clients, *arns: str, identity: Identity = IDENTITY
) -> AdminsAreNamed | AdminsAreThere:
    iam = Iam(aws.boto("iam"))
    if not arns:
        return AdminsAreNamed(identity=identity)
    return AdminsAreThere(iam=iam, identity=identity, arns=arns)


def test_who_deploys_is_told_how_to_be_let_in(aws: Clients) -> None:
    found = only_finding_of(admins(aws), "kubernetes-without-admins")
    assert found.severity == "info"
    assert found.message.endswith(f"For you: eks_admin_arns={IDENTITY.arn}")
    session = Identity(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/me")
    [of_session] = findings_of(admins(aws, identity=session))
    assert "the ARN of role Admin, as `aws iam get-role --role-name Admin " in of_session.message
    root = Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:root")
    [of_root] = findings_of(admins(aws, identity=root))
    assert of_root.message.endswith("Name a role or a user")


def test_roles_that_are_to_be_let_in_exist(aws: Clients) -> None:
    aws.boto("iam").create_role(RoleName="Admin", Path="/team/", AssumeRolePolicyDocument="{}")
    others = "arn:aws:iam::210987654321:role/Elsewhere"
    user = f"arn:aws:iam::{ACCOUNT}:user/jo"
    assert codes_of(admins(aws, ADMIN, others, user)) == []
    without_path = ADMIN.replace("/team/", "/")
    found = only_finding_of(admins(aws, without_path), "kubernetes-admin-missing")
    assert without_path in found.message
