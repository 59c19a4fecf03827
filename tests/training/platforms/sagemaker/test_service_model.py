"""The tests' own judge of requests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker.planning import body
from tests.training.platforms.sagemaker.service_model import complaints


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"TrainingJobName": "a_b"}, "'a_b' does not match"),
        ({"TrainingJobName": "a" * 64}, "64 characters, at most 63"),
        ({"HyperParameters": {"a": "line\nbreak"}}, "does not match .*"),
        ({"HyperParameters": {"a": "line\u2028break"}}, "does not match .*"),
        ({"HyperParameters": {"a": "x" * 2501}}, "2501 characters, at most 2500"),
        ({"HyperParameters": {str(n): "" for n in range(101)}}, "101 entries, at most 100"),
        ({"HyperParameters": {"a": "\ud800"}}, "is no Unicode text"),
        ({"Environment": {"a b": "c"}}, "key 'a b': 'a b' does not match"),
        ({"ResourceConfig": {"InstanceType": "ml.x9.large"}}, "is not one of the"),
        ({"ResourceConfig": {"KeepAlivePeriodInSeconds": 21601}}, "21601 , at most 21600"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": True}}, "True is no integer"),
        ({"Tags": [{"Key": "a", "Value": "b!"}]}, "'b!' does not match"),
        ({"Tags": [{"Key": "ключ", "Value": "é"}]}, None),
        ({"Unknown": 1}, 'Unknown parameter in input: "Unknown"'),
    ],
)
def test_what_aws_would_refuse_is_told(change: dict[str, Any], complaint: str | None) -> None:
    found = complaints({**body(), **change})
    assert any(complaint in line for line in found) if complaint else found == []
