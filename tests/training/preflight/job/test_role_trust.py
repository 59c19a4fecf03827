"""Whether SageMaker may run as the job's role."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, codes_of, only_finding_of
from training.aws.clients import Clients
from training.aws.iam import Iam
from training.preflight.job.role_trust import SageMakerMayBeTheRole

ALLOW = {"Effect": "Allow", "Action": "sts:AssumeRole"}
TO_SAGEMAKER = {"Principal": {"Service": "sagemaker.amazonaws.com"}}
TO_SEVERAL = {"Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}}
TO_EC2 = {"Principal": {"Service": "ec2.amazonaws.com"}}
OF_ACCOUNT = {"Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}}
DENY = {"Effect": "Deny", "Action": "sts:*"}


def check(aws: Clients, *statements: dict[str, Any]) -> SageMakerMayBeTheRole:
    trust = {"Version": "2012-10-17", "Statement": list(statements)}
    role = aws.boto("iam").create_role(
        RoleName="training", Path="/jobs/", AssumeRolePolicyDocument=json.dumps(trust)
    )["Role"]
    return SageMakerMayBeTheRole(aws.iam, role["Arn"], ACCOUNT)


@pytest.mark.parametrize(
    "statements",
    [
        [ALLOW | TO_SAGEMAKER],
        [ALLOW | TO_SEVERAL | OF_ACCOUNT],
        [ALLOW | {"Principal": "*"}],
        [ALLOW | TO_EC2, ALLOW | TO_SAGEMAKER],
        # It may hold for others alone.
        [ALLOW | TO_SAGEMAKER, DENY | TO_SAGEMAKER | OF_ACCOUNT],
    ],
)
def test_a_role_that_lets_sagemaker_in_passes(
    aws: Clients, statements: list[dict[str, Any]]
) -> None:
    assert codes_of(check(aws, *statements)) == []


@pytest.mark.parametrize(
    "statements",
    [
        [ALLOW | TO_EC2],
        [ALLOW | {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}}],
        [ALLOW | TO_SAGEMAKER | {"Action": "sts:TagSession"}],
        [ALLOW | TO_SAGEMAKER, DENY | TO_SAGEMAKER],
    ],
)
def test_one_that_does_not_is_an_error(aws: Clients, statements: list[dict[str, Any]]) -> None:
    finding = only_finding_of(check(aws, *statements), "role-not-assumable")
    role = f"arn:aws:iam::{ACCOUNT}:role/jobs/training"
    assert (finding.severity, finding.path) == ("error", role)
    assert finding.message.startswith(f"sagemaker.amazonaws.com may not run as {role}, as which")


def test_a_role_that_is_not_there_is_an_error(aws: Clients) -> None:
    gone = f"arn:aws:iam::{ACCOUNT}:role/gone"
    found = only_finding_of(SageMakerMayBeTheRole(aws.iam, gone, ACCOUNT), "role-missing")
    assert (found.severity, found.path) == ("error", gone)


def test_roles_of_other_accounts_are_not_asked_for() -> None:
    theirs = "arn:aws:iam::210987654321:role/training"
    assert codes_of(SageMakerMayBeTheRole(Iam(None), theirs, ACCOUNT)) == []
