"""Policies of resources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from training.aws.policy import Policy, Statement


def statement(**body: Any) -> Statement:
    return Statement({"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", **body})


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ("s3:GetObject", True),
        (["s3:PutObject", "s3:GetObject"], True),
        ("s3:Get*", True),
        ("S3:getobject", True),
        ("*", True),
        ("s3:*", True),
        ("s3:GetObject?", False),
        ("s3:PutObject", False),
        ("ec2:*", False),
    ],
)
def test_actions_are_covered_by_name_and_by_wildcard(actions: Any, expected: bool) -> None:
    assert statement(Action=actions).covers("s3:GetObject") is expected
    inverted = Statement({"Effect": "Deny", "Principal": "*", "NotAction": actions})
    assert inverted.covers("s3:GetObject") is not expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"Principal": "*"}, True),
        ({"Principal": {"AWS": "*"}}, True),
        ({"Principal": {"AWS": ["1", "*"]}}, True),
        ({"Principal": {"AWS": "arn:aws:iam::1:root"}}, False),
        ({"Principal": {"Service": "fsx.amazonaws.com"}}, False),
    ],
)
def test_everyone_is_a_star(body: dict[str, Any], expected: bool) -> None:
    assert statement(**body).is_about_everyone is expected


def test_everyone_but_some_is_about_everyone() -> None:
    body = {"Effect": "Deny", "NotPrincipal": {"AWS": "arn:aws:iam::1:root"}, "Action": "*"}
    assert Statement(body).is_about_everyone


def test_conditions_are_flat_and_values_are_texts() -> None:
    condition = {"Bool": {"aws:SecureTransport": False}, "StringLike": {"aws:Arn": ["a", "b"]}}
    assert statement(Condition=condition).conditions == {
        ("bool", "aws:securetransport"): ["false"],
        ("stringlike", "aws:arn"): ["a", "b"],
    }


def test_a_policy_of_one_statement_need_not_be_a_list() -> None:
    body = {"Sid": "One", "Effect": "Deny", "Principal": "*", "Action": "s3:*"}
    policy = Policy.parse(json.dumps({"Statement": body}))
    assert [found.name for found in policy.denying("s3:GetObject")] == ["One"]
    assert list(policy.allowing("s3:GetObject")) == []
