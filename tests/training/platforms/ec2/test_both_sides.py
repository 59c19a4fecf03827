"""What the launcher plans, the nodes' own program takes: both sides have the same rules."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.conductor.request import parse
from tests.training.platforms.ec2.planning import document, outputs
from tests.training.platforms.ec2.samples import SAMPLES
from training.errors import UsageError

PLAIN = st.from_regex(r"[a-z][a-z0-9_]{0,20}[a-z]", fullmatch=True)
ODD = st.text(string.ascii_letters + string.digits + "-_. /:@é", max_size=140)
NAMES = PLAIN | PLAIN | PLAIN | ODD
SMALL = st.integers(min_value=1, max_value=30)
NUMBERS = SMALL | SMALL | SMALL | st.integers(min_value=-1, max_value=2**40)
LONG = st.integers(min_value=60, max_value=86_400) | NUMBERS


@pytest.mark.parametrize("name", SAMPLES)
def test_the_nodes_take_what_the_launcher_writes(name: str) -> None:
    written = document(**SAMPLES[name])
    assert parse(written).to_json() == written


@settings(max_examples=200)
@given(
    given=st.fixed_dictionaries(
        {},
        optional={
            "name": PLAIN.map(lambda name: name.replace("_", "-")) | ODD,
            "image": PLAIN.map(lambda name: f"registry/{name}:1") | ODD,
            "data_source": st.sampled_from(["s3", "efs", "fsx"]),
            "channels__log": NAMES,
            "channels__train": NAMES,
            "limits__max_run_s": NUMBERS,
            "retries": NUMBERS,
            "instances__count": NUMBERS,
            "instances__processes_per_instance": st.integers(min_value=0, max_value=10),
            "environment": st.dictionaries(NAMES, st.text(max_size=20), max_size=3),
            "tags": st.dictionaries(NAMES, st.text(max_size=20), max_size=3),
            "ec2__distribution": st.sampled_from(["elastic", "mpi", "torchrun"]),
            "ec2__least_workers": NUMBERS,
            "ec2__workers_wait_s": LONG,
            "ec2__stall_s": LONG,
            "ec2__network_interface": NAMES,
            "ec2__queue": st.booleans(),
        },
    ),
)
def test_what_is_planned_is_taken_and_all_else_is_refused_by_the_plan(
    given: dict[str, Any],
) -> None:
    try:
        planned = document(stacks=outputs(MostWorkers="1000"), **given)
    except UsageError:
        return
    assert parse(planned).to_json() == planned
