"""The network interfaces of nodes, against what EC2 says of each type."""

from __future__ import annotations

import gzip
import importlib.resources
import json
from functools import cache
from typing import Any

import pytest

from stacks.constructs.node_network import CARDS_WITHOUT_EFA, Interface, interfaces
from training.instances import INSTANCES, find_instance

WITH_EFA = [instance.name for instance in INSTANCES if instance.efa_interfaces]


@cache
def described_types() -> dict[str, dict[str, Any]]:
    """What EC2's DescribeInstanceTypes answers, in moto's copy."""
    packed = importlib.resources.files("moto.ec2") / "resources" / "instance_types.json.gz"
    types: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return types


def made(instance_type: str, efa: int, *, public_address: bool = False) -> list[Interface]:
    return interfaces(
        instance_type=instance_type, efa=efa, groups=["sg-1"], public_address=public_address
    )


@pytest.mark.parametrize("name", WITH_EFA)
def test_every_efa_of_a_type_is_on_a_card_that_takes_it(name: str) -> None:
    count = find_instance(name).efa_interfaces
    assert count
    cards = {
        card["NetworkCardIndex"]: card
        for card in described_types()[name]["NetworkInfo"]["NetworkCards"]
    }
    primary, *rest = made(name, count)
    assert (primary.network_card_index, primary.device_index) == (0, 0)
    assert primary.interface_type is None
    assert len(rest) == count
    for each in rest:
        assert each.interface_type == "efa-only"
        assert each.interface_type in cards[each.network_card_index]["InterfaceTypes"]
    places = [(each.network_card_index, each.device_index) for each in (primary, *rest)]
    assert len(set(places)) == len(places)
    for card, settings in cards.items():
        assert sum(place[0] == card for place in places) <= settings["MaximumNetworkInterfaces"]


def test_cards_without_efa_are_those_that_ec2_names() -> None:
    lacking = {
        name: lacking
        for name in WITH_EFA
        if (
            lacking := sum(
                "efa-only" not in card["InterfaceTypes"]
                for card in described_types()[name]["NetworkInfo"]["NetworkCards"]
            )
        )
    }
    assert lacking == CARDS_WITHOUT_EFA


def test_p4d_has_four_for_efa_beside_the_one_with_its_address() -> None:
    places = [(each.network_card_index, each.device_index) for each in made("p4d.24xlarge", 4)]
    assert places == [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]


def test_every_interface_is_in_the_groups_and_goes_with_its_node() -> None:
    for each in made("p5.48xlarge", 32):
        assert each.groups == ["sg-1"]
        assert each.delete_on_termination is True


@pytest.mark.parametrize("public_address", [True, False])
def test_one_interface_says_whether_it_has_a_public_address(public_address: bool) -> None:
    [only] = made("m6i.xlarge", 0, public_address=public_address)
    assert only.associate_public_ip_address is public_address


def test_several_interfaces_say_nothing_of_it() -> None:
    assert {each.associate_public_ip_address for each in made("g5.8xlarge", 1)} == {None}
