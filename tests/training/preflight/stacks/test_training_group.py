"""A training security group that exists already."""

from __future__ import annotations

import pytest

from tests.training.preflight.stacks.conftest import Network, codes_of, only_finding_of
from training.aws.clients import Clients
from training.preflight.stacks.training_group import TrainingGroupIsFit


def check(aws: Clients, network: Network, group_id: str | None = None) -> TrainingGroupIsFit:
    return TrainingGroupIsFit(
        ec2=aws.ec2, vpc_id=network.vpc_id, group_id=group_id or network.group_id
    )


def open_to_itself(network: Network) -> None:
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": network.group_id}]}]
    network.allow(network.group_id, network.group_id, 0, 0, "-1")
    network.ec2.authorize_security_group_egress(GroupId=network.group_id, IpPermissions=rule)


def close_way_out(network: Network) -> None:
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    network.ec2.revoke_security_group_egress(GroupId=network.group_id, IpPermissions=everywhere)


def test_a_group_open_to_itself_and_to_https_passes(aws: Clients, network: Network) -> None:
    open_to_itself(network)
    assert codes_of(check(aws, network)) == []
    close_way_out(network)
    network.ec2.authorize_security_group_egress(
        GroupId=network.group_id, IpProtocol="tcp", FromPort=443, ToPort=443, CidrIp="0.0.0.0/0"
    )
    assert codes_of(check(aws, network)) == []


@pytest.mark.parametrize("rule", [None, (0, 65535), (22, 22)])
def test_a_group_that_does_not_admit_all_of_its_own_is_an_error_with_the_command(
    aws: Clients, network: Network, rule: tuple[int, int] | None
) -> None:
    if rule:
        network.allow(network.group_id, network.group_id, *rule)
    finding = only_finding_of(check(aws, network), "training-group-closed-to-itself")
    assert f"--group-id {network.group_id} --ip-permissions 'IpProtocol=-1" in finding.message


def test_a_group_that_lets_nobody_out_is_closed_and_without_https(
    aws: Clients, network: Network
) -> None:
    network.allow(network.group_id, network.group_id, 0, 0, "-1")
    close_way_out(network)
    codes = codes_of(check(aws, network))
    assert codes == ["training-group-closed-to-itself", "training-group-without-https"]


def test_a_way_out_to_everyone_does_not_let_efa_pass(aws: Clients, network: Network) -> None:
    network.allow(network.group_id, network.group_id, 0, 0, "-1")
    finding = only_finding_of(check(aws, network), "training-group-without-efa")
    assert finding.severity == "warning"
    assert "authorize-security-group-egress" in finding.message
    assert "authorize-security-group-ingress" not in finding.message


def test_https_may_go_to_a_prefix_list_alone(aws: Clients, network: Network) -> None:
    open_to_itself(network)
    close_way_out(network)
    assert codes_of(check(aws, network)) == ["training-group-without-https"]
    network.ec2.authorize_security_group_egress(
        GroupId=network.group_id,
        IpPermissions=[
            {
                "IpProtocol": "tcp",
                "FromPort": 443,
                "ToPort": 443,
                "PrefixListIds": [{"PrefixListId": "pl-63a5400a"}],
            }
        ],
    )
    assert codes_of(check(aws, network)) == []


def test_a_group_open_to_another_is_still_closed_to_itself(aws: Clients, network: Network) -> None:
    network.allow(network.group_id, network.new_group("other"), 0, 0, "-1")
    assert codes_of(check(aws, network)) == ["training-group-closed-to-itself"]


def test_a_group_that_is_not_there_is_an_error(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network, "sg-01234567")) == ["training-group-missing"]


def test_a_group_of_another_vpc_is_an_error(aws: Clients, network: Network) -> None:
    vpc_id = network.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    stranger = network.new_group("stranger", vpc_id)
    assert codes_of(check(aws, network, stranger)) == ["training-group-in-another-vpc"]
