"""Who launches, and as whom the job runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    REGION,
    Stub,
    codes_of,
    findings_of,
)
from training.aws.iam import Iam
from training.aws.sts import Identity
from training.preflight.job.asked import S3Place
from training.preflight.job.caller import CallerMayLaunch
from training.preflight.job.role import RoleReachesItsPlaces

USER = f"arn:aws:iam::{ACCOUNT}:user/me"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/jobs/training"
JOB = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/mine"


def simulation(
    principal: str, actions: tuple[str, ...], resource: str, *denied: str, **context: str
) -> Any:
    request = {
        "PolicySourceArn": principal,
        "ActionNames": list(actions),
        "ResourceArns": [resource],
        "ContextEntries": [
            {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
            for key, value in context.items()
        ],
    }
    results = [
        {
            "EvalActionName": action,
            "EvalDecision": "implicitDeny" if action in denied else "allowed",
        }
        for action in actions
    ]
    return ("simulate_principal_policy", {"EvaluationResults": results}, request)


def passing(principal: str, *denied: str) -> Any:
    to_sagemaker = {"iam:PassedToService": "sagemaker.amazonaws.com"}
    return simulation(principal, ("iam:PassRole",), ROLE, *denied, **to_sagemaker)


def starting(principal: str, *denied: str) -> Any:
    tag = {"aws:RequestTag/Project": "mask-rcnn"}
    return simulation(principal, ("sagemaker:CreateTrainingJob",), JOB, *denied, **tag)


def caller(stub: Stub, arn: str, *calls: Any) -> CallerMayLaunch:
    return CallerMayLaunch(
        Iam(stub("iam", *calls)), Identity(ACCOUNT, arn), ROLE, "Mine", REGION, "mask-rcnn"
    )


def test_who_may_start_jobs_and_pass_the_role_passes(stub: Stub) -> None:
    assert codes_of(caller(stub, USER, passing(USER), starting(USER))) == []


@pytest.mark.parametrize(
    ("denied", "code", "message"),
    [
        ("iam:PassRole", "role-not-passable", f"{USER} may not hand {ROLE} to a job. Ask for iam"),
        ("sagemaker:CreateTrainingJob", "job-not-permitted", f"{USER} may not start {JOB}. Ask"),
    ],
)
def test_what_is_not_allowed_is_named(stub: Stub, denied: str, code: str, message: str) -> None:
    [finding] = findings_of(caller(stub, USER, passing(USER, denied), starting(USER, denied)))
    assert finding.code == code
    assert finding.message.startswith(message)


def test_a_session_is_judged_by_its_role_with_its_path(stub: Stub) -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:role/people/Admin"
    role = {
        "Path": "/people/",
        "RoleName": "Admin",
        "RoleId": "AROAAAAAAAAAAAAAAAAA",
        "CreateDate": 0,
        "Arn": arn,
    }
    get_role = ("get_role", {"Role": role}, {"RoleName": "Admin"})
    session = f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/me"
    assert codes_of(caller(stub, session, get_role, passing(arn), starting(arn))) == []


def test_no_policy_binds_root(stub: Stub) -> None:
    assert codes_of(caller(stub, f"arn:aws:iam::{ACCOUNT}:root")) == []


READS, WRITES = S3Place("job-bucket", "ml/train"), S3Place("job-bucket", "ml/output")
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
READING = (ROLE, ("s3:GetObject",), "arn:aws:s3:::job-bucket/ml/train/file")
WRITING = (ROLE, ("s3:PutObject",), "arn:aws:s3:::job-bucket/ml/output/file")
USING = (ROLE, ("kms:Decrypt", "kms:GenerateDataKey"), KEY)


def role(stub: Stub, *calls: Any, reads: S3Place | None = READS) -> RoleReachesItsPlaces:
    return RoleReachesItsPlaces(Iam(stub("iam", *calls)), ROLE, reads, WRITES, [KEY])


def test_a_role_that_may_read_write_and_decrypt_passes(stub: Stub) -> None:
    calls = [simulation(*each) for each in (READING, WRITING, USING)]
    assert codes_of(role(stub, *calls)) == []


def test_what_the_role_may_not_do_is_named_with_the_place(stub: Stub) -> None:
    found = findings_of(
        role(
            stub,
            simulation(*READING, "s3:GetObject"),
            simulation(*WRITING, "s3:PutObject"),
            simulation(*USING, "kms:GenerateDataKey"),
        )
    )
    assert [each.code for each in found] == [
        "role-cannot-read",
        "role-cannot-write",
        "role-cannot-use-key",
    ]
    assert found[2].message.startswith(
        f"{ROLE}, as which the job runs, may not kms:GenerateDataKey on {KEY}. Deploy StorageStack"
    )


def test_without_data_on_s3_no_read_is_asked_for(stub: Stub) -> None:
    assert codes_of(role(stub, simulation(*WRITING), simulation(*USING), reads=None)) == []
