"""Free addresses in subnets that exist already."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.training.preflight.stacks.conftest import Network, codes_of, only_finding_of
from training.addresses import AddressNeed
from training.aws.clients import Clients
from training.preflight.stacks.room import NOTHING, SubnetsHaveRoom

FREE = 251
"""Of a /24."""


def check(
    aws: Clients, network: Network, *, cluster: int = 0, fsx: int | None = None, **first: Any
) -> SubnetsHaveRoom:
    needs: dict[str, AddressNeed] = dict.fromkeys(network.subnet_ids, NOTHING)
    needs[network.subnet_ids[0]] = replace(NOTHING, **first)
    return SubnetsHaveRoom(
        ec2=aws.ec2,
        cloudformation=aws.cloudformation,
        needs=needs,
        cluster=cluster,
        cluster_subnet_id=network.subnet_ids[fsx] if fsx is not None else None,
    )


def test_what_just_fits_passes(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network, lustre=FREE)) == []
    assert codes_of(check(aws, network, lustre=100, cluster=151, fsx=0)) == []


def test_a_full_subnet_says_how_many_are_free_and_what_needs_them(
    aws: Clients, network: Network
) -> None:
    finding = only_finding_of(check(aws, network, lustre=100, cluster=152, fsx=0), "subnet-full")
    assert finding.path == "private_subnets"
    assert f"{network.subnet_ids[0]} has 251 free addresses, and 252 are needed" in finding.message
    assert "(instances 152, FSx for Lustre 100)" in finding.message
    assert "planned_instance_count" in finding.message


def test_without_a_cluster_nothing_is_said_of_it(aws: Clients, network: Network) -> None:
    finding = only_finding_of(check(aws, network, lustre=FREE + 1), "subnet-full")
    assert "planned" not in finding.message


def test_a_cluster_without_fsx_takes_the_roomiest_subnet(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network, lustre=200, cluster=FREE)) == []
    assert codes_of(check(aws, network, lustre=200, cluster=FREE + 1)) == ["subnet-full"]


def test_what_is_deployed_already_needs_nothing_more(aws: Clients, network: Network) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {"BucketName": {"Value": "mine"}},
    }
    aws.boto("cloudformation").create_stack(
        StackName="StorageStack", TemplateBody=json.dumps(template)
    )
    assert codes_of(check(aws, network, lustre=FREE + 1)) == []
    assert codes_of(check(aws, network, cluster=FREE + 1, fsx=0)) == ["subnet-full"]


def test_a_subnet_that_is_not_there_is_left_to_another_check(
    aws: Clients, network: Network
) -> None:
    network.ec2.delete_subnet(SubnetId=network.subnet_ids[0])
    assert codes_of(check(aws, network, lustre=FREE + 1)) == []
