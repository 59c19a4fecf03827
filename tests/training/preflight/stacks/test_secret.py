"""The secret of the Git repository."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, REGION, Stub, codes_of, findings_of
from training.aws.clients import Clients
from training.aws.secrets import Secrets
from training.preflight.stacks.secret import GitSecretIsThere

MISSING = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:git-AbCdEf"


def check(secrets: Secrets, arn: str) -> GitSecretIsThere:
    return GitSecretIsThere(secrets=secrets, arn=arn, region=REGION)


def make(aws: Clients, text: str) -> str:
    made = aws.boto("secretsmanager").create_secret(Name="git", SecretString=text)
    return str(made["ARN"])


def test_a_secret_with_user_and_token_passes(aws: Clients) -> None:
    arn = make(aws, json.dumps({"username": "me", "password": "token"}))
    assert codes_of(check(aws.secrets, arn)) == []


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ({"username": "me"}, "no password."),
        ({"username": "me", "password": ""}, "no password."),
        ({"user": "me", "token": "hush-hush"}, "no username and no password."),
        ("hush-hush", "no username and no password."),
        (["hush-hush"], "no username and no password."),
    ],
)
def test_a_secret_without_them_says_which_are_missing_and_no_more(
    aws: Clients, content: Any, missing: str
) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (finding,) = findings_of(check(aws.secrets, make(aws, text)))
    assert finding.code == "git-secret-without-keys"
    assert missing in finding.message
    assert "hush" not in finding.message


def test_a_secret_that_is_not_there_is_an_error(aws: Clients) -> None:
    assert codes_of(check(aws.secrets, MISSING)) == ["git-secret-missing"]


def test_a_secret_that_is_being_deleted_says_how_to_keep_it(aws: Clients) -> None:
    arn = make(aws, "{}")
    aws.boto("secretsmanager").delete_secret(SecretId=arn)
    (finding,) = findings_of(check(aws.secrets, arn))
    assert finding.code == "git-secret-deleted"
    assert f"restore-secret --secret-id {arn}" in finding.message


def test_a_secret_of_another_region_is_not_asked_for(stub: Stub) -> None:
    elsewhere = MISSING.replace(REGION, "eu-west-1")
    assert codes_of(check(Secrets(stub("secretsmanager")), elsewhere)) == [
        "git-secret-in-another-region"
    ]


def test_a_secret_that_may_not_be_read_is_there_all_the_same(stub: Stub) -> None:
    request = {"SecretId": MISSING}
    client = stub(
        "secretsmanager",
        ("describe_secret", {"Name": "git"}, request),
        ("get_secret_value", "AccessDeniedException", request),
    )
    (finding,) = findings_of(check(Secrets(client), MISSING))
    assert (finding.code, finding.severity) == ("git-secret-not-read", "info")
    assert "secretsmanager:GetSecretValue" in finding.message
