"""`python -m training.preflight --stacks` where the stacks are there: a local AWS."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from tests.localaws.deployed_app import DeployedApp, in_region

pytestmark = pytest.mark.slow

REGION = "eu-west-1"
UNANSWERED = {"check-not-answered"}
"""What a local AWS lacks."""


def vpc_of_others(aws: LocalAws) -> dict[str, str]:
    """Make a VPC; return the settings that name it."""
    ec2 = aws.client("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsHostnames={"Value": True})
    table_id = ec2.create_route_table(VpcId=vpc_id)["RouteTable"]["RouteTableId"]
    subnets = []
    for number, zone in enumerate((f"{REGION}a", f"{REGION}b")):
        made = ec2.create_subnet(
            VpcId=vpc_id, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone
        )
        subnet_id = made["Subnet"]["SubnetId"]
        ec2.associate_route_table(RouteTableId=table_id, SubnetId=subnet_id)
        subnets.append(f"{subnet_id}:{zone}:{table_id}")
    return {"vpc_id": vpc_id, "private_subnets": ",".join(subnets)}


@pytest.fixture(scope="module")
def deployed(
    local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalAws, dict[str, str]]]:
    """The stacks in a VPC of others without a way out, and their settings."""
    aws = in_region(local_aws, REGION)
    context = vpc_of_others(aws) | {
        "internet_access": "false",
        "fsx_removal": "retain",
        "cluster_worker_instance_type": "g5.48xlarge",
        "eks_gpu_instance_type": "g5.48xlarge",
        "eks_admin_arns": "arn:aws:iam::123456789012:user/somebody",
    }
    app = DeployedApp(aws, tmp_path_factory.mktemp("assembly"))
    app.deploy(context)
    yield aws, context
    app.destroy()


@pytest.fixture
def preflight(deployed: tuple[LocalAws, dict[str, str]], tmp_path: Path) -> Any:
    """Look again, with the settings of the deploy and others; return code to message."""
    aws, context = deployed

    def look(**changes: str | None) -> dict[str, str]:
        now = {key: value for key, value in {**context, **changes}.items() if value is not None}
        options = [word for key, value in now.items() for word in ("-c", f"{key}={value}")]
        answer = subprocess.run(
            [sys.executable, "-m", "training.preflight", "--stacks", "--format", "json", *options],
            cwd=ROOT,
            env=aws.process_env() | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert answer.returncode in (0, 3), answer.stderr
        findings = json.loads(answer.stdout)["findings"]
        return {finding["code"]: finding["message"] for finding in findings}

    return look


def test_the_same_settings_find_nothing_of_our_own_in_the_way(preflight: Any) -> None:
    found = preflight()
    assert found.keys() - UNANSWERED == {"notebook-wheels-missing", "cluster-endpoint-missing"}
    assert "aws s3 sync wheels s3://storagestack-" in found["notebook-wheels-missing"]


def test_what_our_stack_made_does_not_count_as_there_before(preflight: Any) -> None:
    found = preflight(s3_endpoint="existing", interface_endpoints="none")
    assert "Set s3_endpoint=create" in found["s3-endpoint-is-our-own"]
    assert "the deploy would delete them" in found["interface-endpoint-is-our-own"]
    assert "interface-endpoint-missing" not in found


def test_settings_that_were_forgotten_are_told_with_what_they_would_do(preflight: Any) -> None:
    found = preflight(vpc_id=None, private_subnets=None, internet_access=None, fsx_removal=None)
    assert {"replaces-vpc", "replaces-file-system", "setting-forgotten"} <= found.keys()
    for option in ("-c internet_access=false", "-c fsx_removal=retain", "-c vpc_id=vpc-"):
        assert option in found["setting-forgotten"]
    # The stack's own VPC is no other VPC.
    assert "vpc-overlaps" not in found


def test_a_change_without_harm_is_a_remark(preflight: Any) -> None:
    found = preflight(notebook_idle_minutes="60")
    assert "notebook_idle_minutes was 120" in found["setting-changed"]
