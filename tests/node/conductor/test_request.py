from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.conductor.refusal import Refused
from node.conductor.request import parse

SAMPLES = sorted((Path(__file__).parents[1] / "requests").glob("*.json"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_what_the_launcher_writes_is_read_as_it_is(path: Path) -> None:
    document = json.loads(path.read_text())
    assert parse(document).to_json() == document


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 2}, "request: version: 2; this cluster's nodes read version 1"),
        ({"more": 1}, "request: more: unknown"),
        ({"name": "a b"}, 'request: name: "a b"; expected 1 to 63 letters, digits and -'),
        ({"name": "-a"}, 'request: name: "-a"; expected'),
        ({"algorithm": "tf2-smddp"}, "expected horovod or tensorpack or aws-samples"),
        ({"distribution": "smddp"}, "expected mpi or torchrun or elastic"),
        ({"least_workers": 99}, "least_workers: 99; expected at most workers"),
        ({"workers": True}, "workers: true; expected a whole number from 1"),
        ({"processes_per_host": 0}, "expected a whole number from 1 to 64"),
        ({"hyperparameters": {"a": 1}}, "expected an object of names and texts"),
        ({"environment": {"a-b": "1"}}, "expected an object of variables and texts"),
        ({"data": {"path": "/efs/a:b"}}, "request: data:"),
        ({"data": {"path": "/efs/../etc"}}, "request: data:"),
        ({"data": {"s3": "s3://bucket/key"}}, "request: data:"),
        ({"log": "log"}, "expected an absolute folder"),
        ({"image": "a image"}, "expected the address of an image, or null"),
        ({"network_interface": "eth0; rm"}, "expected the name of an interface, or null"),
        ({"retries": -1}, "expected a whole number from 0 to 30"),
        ({"fingerprint": "x"}, "expected 64 hexadecimal digits"),
        ({"algorithm": "tensorpack", "distribution": "elastic"}, "elastic is for horovod"),
        ({"algorithm": "tensorpack", "image": None, "distribution": "mpi"}, "runs in its image"),
    ],
)
def test_a_field_that_cannot_be_is_named(changes: dict[str, Any], said: str) -> None:
    document = {**json.loads(SAMPLES[0].read_text()), **changes}
    with pytest.raises(Refused) as refused:
        parse(document)
    assert refused.value.kind == "usage"
    assert said in str(refused.value)


def test_a_missing_field_is_named() -> None:
    document = json.loads(SAMPLES[0].read_text())
    del document["log"]
    with pytest.raises(Refused, match="request: log: missing"):
        parse(document)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(json.loads(SAMPLES[0].read_text()))), value=_JSON)
def test_whatever_a_field_holds_it_is_read_or_refused(name: str, value: Any) -> None:
    document = {**json.loads(SAMPLES[0].read_text()), name: value}
    try:
        parse(document)
    except Refused as refused:
        assert refused.kind == "usage"
        assert len(str(refused)) < 700
