"""The permissions boundary."""

from __future__ import annotations

import json

from tests.training.preflight.stacks.conftest import ACCOUNT, codes_of
from training.aws.clients import Clients
from training.preflight.stacks.boundary import BoundaryIsThere

ALLOW = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
}


def check(aws: Clients, arn: str) -> BoundaryIsThere:
    return BoundaryIsThere(iam=aws.iam, arn=arn, account=ACCOUNT)


def test_a_policy_of_the_account_or_of_aws_passes(aws: Clients) -> None:
    made = aws.boto("iam").create_policy(PolicyName="bound", PolicyDocument=json.dumps(ALLOW))
    assert codes_of(check(aws, made["Policy"]["Arn"])) == []


def test_a_policy_that_is_not_there_is_an_error(aws: Clients) -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:policy/bound"
    assert codes_of(check(aws, arn)) == ["boundary-missing"]


def test_a_policy_of_another_account_is_an_error(aws: Clients) -> None:
    arn = "arn:aws:iam::210987654321:policy/bound"
    assert codes_of(check(aws, arn)) == ["boundary-of-another-account"]
