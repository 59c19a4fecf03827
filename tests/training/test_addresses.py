"""How many addresses a subnet has to have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.addresses import AddressNeed, addresses_of_instance, addresses_of_lustre
from training.instances import INSTANCES, find_instance


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("ml.p3.16xlarge", 2),
        ("ml.p4d.24xlarge", 5),
        ("p5.48xlarge", 5),
        ("g5.xlarge", 2),
        # How many EFA interfaces it has is not known: as much as with them.
        ("p6e-gb200.36xlarge", 5),
    ],
)
def test_an_instance_takes_what_sagemaker_asks_for(name: str, addresses: int) -> None:
    assert addresses_of_instance(find_instance(name)) == addresses


@pytest.mark.parametrize(("gib", "addresses"), [(1200, 2), (2400, 2), (4800, 3), (12000, 6)])
def test_lustre_takes_one_for_metadata_and_one_for_each_server_of_2400_gib(
    gib: int, addresses: int
) -> None:
    assert addresses_of_lustre(gib) == addresses


def test_a_need_says_what_it_is_for_and_leaves_out_what_there_is_not() -> None:
    need = AddressNeed(instances=20, lustre=0, mount_target=1, interface_endpoints=0, notebook=1)
    assert need.total == 27
    assert str(need) == "instances 20, EFS 1, notebook 1, AWS itself 5"


@given(
    instances=st.integers(min_value=0, max_value=100_000),
    endpoints=st.integers(min_value=0, max_value=20),
)
def test_the_prefix_length_is_of_the_smallest_subnet_that_holds_the_need(
    instances: int, endpoints: int
) -> None:
    need = AddressNeed(
        instances=instances, lustre=2, mount_target=1, interface_endpoints=endpoints, notebook=1
    )
    holds = 2 ** (32 - need.prefix_length)
    assert need.total <= holds
    assert holds == 16 or holds // 2 < need.total


def test_every_instance_type_has_a_figure() -> None:
    assert {addresses_of_instance(instance) for instance in INSTANCES} == {2, 5}
