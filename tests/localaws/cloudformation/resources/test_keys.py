"""KMS keys and aliases, made and changed by a stack."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def document(sid: str) -> dict[str, Any]:
    statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Principal": {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}},
        "Action": "kms:*",
        "Resource": "*",
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def key(**properties: Any) -> Resources:
    return {"Type": "AWS::KMS::Key", "Properties": properties}


def alias(target: str) -> Resources:
    properties = {"AliasName": "alias/of-a-test", "TargetKeyId": {"Ref": target}}
    return {"Type": "AWS::KMS::Alias", "Properties": properties}


def test_key_and_alias_change_in_place_and_the_window_is_kept(
    local_aws: LocalAws, stack: Stack
) -> None:
    first = key(
        Description="first",
        KeyPolicy=document("one"),
        EnableKeyRotation=True,
        Tags=[{"Key": "team", "Value": "vision"}, {"Key": "gone", "Value": "soon"}],
    )
    made = stack.create({"Key": first, "Other": key(), "Alias": alias("Key")})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids, kms = stack.ids(), local_aws.client("kms")
    assert kms.get_key_rotation_status(KeyId=ids["Key"])["KeyRotationEnabled"] is True

    second = key(
        Description="second",
        KeyPolicy=document("two"),
        PendingWindowInDays=7,
        Tags=[{"Key": "team", "Value": "speech"}],
    )
    changed = stack.update({"Key": second, "Other": key(), "Alias": alias("Other")})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    policy = json.loads(kms.get_key_policy(KeyId=ids["Key"], PolicyName="default")["Policy"])
    assert policy["Statement"][0]["Sid"] == "two"
    assert kms.describe_key(KeyId=ids["Key"])["KeyMetadata"]["Description"] == "second"
    assert kms.get_key_rotation_status(KeyId=ids["Key"])["KeyRotationEnabled"] is False
    tags = kms.list_resource_tags(KeyId=ids["Key"])["Tags"]
    assert tags == [{"TagKey": "team", "TagValue": "speech"}]
    aliased = kms.describe_key(KeyId="alias/of-a-test")["KeyMetadata"]
    assert aliased["KeyId"] == ids["Other"]

    stack.delete()
    deleted = kms.describe_key(KeyId=ids["Key"])["KeyMetadata"]
    assert deleted["KeyState"] == "PendingDeletion"
    days = (deleted["DeletionDate"] - datetime.now(UTC)).total_seconds() / 86400
    assert 6.9 < days < 7.1
