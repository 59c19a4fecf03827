"""What a caller may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from node.errors import UsageError
from node.health.request import HealthRequest


def test_a_whole_request_is_taken() -> None:
    asked = HealthRequest.read(
        {
            "all_reduce": False,
            "timeout_s": 40,
            "gpus": {"head": 0, "worker": 8},
            "efa_interfaces": {"worker": 4},
            "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/mask-rcnn/horovod@sha256:0a",
        }
    )
    assert asked.gpus["worker"] == 8
    assert asked.check_s == 10


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"x": 1}, "health: x: is not one of all_reduce, timeout_s"),
        ({"all_reduce": 1}, "health: all_reduce: is '1', wanted true or false"),
        ({"timeout_s": 5}, "health: timeout_s: is '5', wanted seconds, 20 to 1500"),
        ({"timeout_s": float("nan")}, "health: timeout_s: is 'nan'"),
        ({"timeout_s": True}, "health: timeout_s: is 'True'"),
        ({"image": "--privileged"}, "health: image: is '--privileged', wanted registry/"),
        ({"image": "a b"}, "health: image: is 'a b'"),
        ({"gpus": {"boss": 1}}, "health: gpus: is \"{'boss': 1}\""),
        ({"gpus": {"head": -1}}, "health: gpus: is "),
        ({"efa_interfaces": [1]}, "health: efa_interfaces: is '[1]'"),
    ],
)
def test_anything_else_is_wrong_usage(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        HealthRequest.read(request_)
    assert str(refused.value).startswith(said)
