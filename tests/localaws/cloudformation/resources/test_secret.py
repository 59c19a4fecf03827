"""Secrets, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def secret(**properties: Any) -> Resources:
    return {"Keys": {"Type": "AWS::SecretsManager::Secret", "Properties": properties}}


def test_empty_secret_takes_a_value_that_an_update_leaves_alone(
    local_aws: LocalAws, stack: Stack
) -> None:
    secrets = local_aws.client("secretsmanager")
    made = stack.create(secret(Description="keys"))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    arn = stack.ids()["Keys"]
    with pytest.raises(ClientError, match="AWSCURRENT"):
        secrets.get_secret_value(SecretId=arn)
    secrets.put_secret_value(SecretId=arn, SecretString="of the head")
    stack.update(secret(Description="SSH keys", Tags=[{"Key": "a", "Value": "b"}]))
    assert stack.ids()["Keys"] == arn
    assert secrets.get_secret_value(SecretId=arn)["SecretString"] == "of the head"
    shown = secrets.describe_secret(SecretId=arn)
    assert (shown["Description"], shown["Tags"]) == ("SSH keys", [{"Key": "a", "Value": "b"}])
    stack.cloudformation.detect_stack_drift(StackName=stack.name)
    (drift,) = stack.cloudformation.describe_stack_resource_drifts(StackName=stack.name)[
        "StackResourceDrifts"
    ]
    assert drift["StackResourceDriftStatus"] == "IN_SYNC"
    stack.delete()
    with pytest.raises(ClientError, match="can't find the specified secret"):
        secrets.describe_secret(SecretId=arn)


def test_generated_value_is_a_password_or_part_of_a_whole(
    local_aws: LocalAws, stack: Stack
) -> None:
    template = json.dumps({"username": "head"})
    generate = {
        "PasswordLength": 24,
        "ExcludePunctuation": True,
        "SecretStringTemplate": template,
        "GenerateStringKey": "password",
    }
    stack.create(secret(GenerateSecretString=generate))
    value = local_aws.client("secretsmanager").get_secret_value(SecretId=stack.ids()["Keys"])
    whole = json.loads(value["SecretString"])
    assert whole["username"] == "head"
    assert len(whole["password"]) == 24
    assert whole["password"].isalnum()
    stack.delete()
