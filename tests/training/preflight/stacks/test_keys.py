"""Keys of KMS that the settings name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, REGION, Stub, codes_of, findings_of
from training.aws.clients import Clients
from training.aws.kms import Kms
from training.preflight.stacks.keys import KeyAdmitsFsx, KeyIsFit

MISSING = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"
ROOT = f"arn:aws:iam::{ACCOUNT}:root"
ROLES = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com"
USE = ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*"]


def fit(kms: Kms, arn: str) -> KeyIsFit:
    return KeyIsFit(kms=kms, setting="encryption_key_arn", arn=arn, region=REGION)


def admits(kms: Kms, arn: str) -> KeyAdmitsFsx:
    return KeyAdmitsFsx(
        kms=kms, setting="bucket_encryption_key_arn", arn=arn, region=REGION, account=ACCOUNT
    )


def make(aws: Clients, *statements: dict[str, Any], **options: Any) -> str:
    everything = {"Effect": "Allow", "Principal": {"AWS": ROOT}, "Action": "kms:*", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [everything, *statements]}
    made = aws.boto("kms").create_key(Policy=json.dumps(policy), **options)
    return str(made["KeyMetadata"]["Arn"])


def allow(actions: Any, principal: Any, **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": principal, "Action": actions, "Resource": "*", **more}


def test_a_key_that_encrypts_passes(aws: Clients) -> None:
    assert codes_of(fit(aws.kms, make(aws))) == []


def test_a_key_that_is_not_there_is_an_error(aws: Clients) -> None:
    (finding,) = findings_of(fit(aws.kms, MISSING))
    assert (finding.code, finding.path) == ("key-missing", "encryption_key_arn")


def test_a_key_of_another_region_is_not_asked_for(stub: Stub) -> None:
    elsewhere = MISSING.replace(REGION, "eu-west-1")
    assert codes_of(fit(Kms(stub("kms")), elsewhere)) == ["key-in-another-region"]
    assert codes_of(admits(Kms(stub("kms")), elsewhere)) == []


def test_a_key_that_is_off_says_how_to_switch_it_on(aws: Clients) -> None:
    arn = make(aws)
    key_id = arn.rpartition("/")[2]
    aws.boto("kms").disable_key(KeyId=key_id)
    (finding,) = findings_of(fit(aws.kms, arn))
    assert finding.code == "key-not-enabled"
    assert f"aws kms enable-key --key-id {arn}" in finding.message
    aws.boto("kms").schedule_key_deletion(KeyId=key_id)
    (finding,) = findings_of(fit(aws.kms, arn))
    assert "cancel-key-deletion" in finding.message


@pytest.mark.parametrize(
    "options",
    [
        {"KeySpec": "RSA_2048", "KeyUsage": "ENCRYPT_DECRYPT"},
        {"KeySpec": "HMAC_256", "KeyUsage": "GENERATE_VERIFY_MAC"},
    ],
)
def test_a_key_of_another_kind_is_an_error(aws: Clients, options: dict[str, str]) -> None:
    assert codes_of(fit(aws.kms, make(aws, **options))) == ["key-not-symmetric"]


@pytest.mark.parametrize(
    "statement",
    [
        allow(USE, "*", Condition={"ArnLike": {"aws:PrincipalArn": f"{ROLES}/*"}}),
        allow(USE, {"AWS": "*"}),
        allow("kms:*", {"AWS": f"{ROLES}/AWSServiceRoleForFSxS3Access_fs-0123456789abcdef0"}),
    ],
)
def test_a_key_that_fsx_may_use_passes(aws: Clients, statement: dict[str, Any]) -> None:
    assert codes_of(admits(aws.kms, make(aws, statement))) == []


@pytest.mark.parametrize(
    ("statements", "missing"),
    [
        ([], "Decrypt and GenerateDataKey"),
        ([allow("kms:Decrypt", "*")], "GenerateDataKey"),
        ([allow(USE, {"AWS": f"arn:aws:iam::{ACCOUNT}:role/Admin"})], "Decrypt and Gen"),
        ([{**allow(USE, "*"), "Effect": "Deny"}], "Decrypt and GenerateDataKey"),
    ],
)
def test_a_key_closed_to_fsx_says_what_is_missing_and_what_to_allow(
    aws: Clients, statements: list[dict[str, Any]], missing: str
) -> None:
    (finding,) = findings_of(admits(aws.kms, make(aws, *statements)))
    assert finding.code == "key-closed-to-fsx"
    assert f"does not let FSx for Lustre {missing}" in finding.message
    assert f"{ROLES}/*" in finding.message


def test_what_aws_manages_admits_who_comes_through_s3(stub: Stub) -> None:
    metadata = {"KeyId": "1", "KeyManager": "AWS"}
    client = stub("kms", ("describe_key", {"KeyMetadata": metadata}, {"KeyId": MISSING}))
    assert codes_of(admits(Kms(client), MISSING)) == []
