"""Buckets and their policies, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def bucket(**properties: Any) -> Resources:
    return {"Type": "AWS::S3::Bucket", "Properties": properties}


def policy(action: str) -> Resources:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": action,
        "Resource": {"Fn::Sub": "${Bucket.Arn}/*"},
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": document},
    }


RULES = [
    {
        "Id": "uploads",
        "Status": "Enabled",
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
    },
    {
        "Id": "versions",
        "Status": "Enabled",
        "Prefix": "logs/",
        "NoncurrentVersionExpiration": {"NoncurrentDays": 30, "NewerNoncurrentVersions": 2},
        "ExpiredObjectDeleteMarker": True,
    },
    {
        "Id": "cold",
        "Status": "Disabled",
        "TagFilters": [{"Key": "cold", "Value": "yes"}],
        "ExpirationInDays": 400,
        "Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": 90}],
        "NoncurrentVersionTransitions": [{"StorageClass": "GLACIER", "TransitionInDays": 60}],
    },
]


def test_settings_are_seen_and_change_in_place(local_aws: LocalAws, stack: Stack) -> None:
    first = bucket(
        LifecycleConfiguration={"Rules": RULES},
        LoggingConfiguration={"DestinationBucketName": {"Ref": "Logs"}, "LogFilePrefix": "a/"},
        VersioningConfiguration={"Status": "Enabled"},
        PublicAccessBlockConfiguration={"BlockPublicAcls": True, "BlockPublicPolicy": True},
        Tags=[{"Key": "team", "Value": "vision"}],
    )
    made = stack.create({"Logs": bucket(), "Bucket": first, "Policy": policy("s3:GetObject")})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids, s3 = stack.ids(), local_aws.client("s3")
    name = ids["Bucket"]
    rules = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    seen = {rule["ID"]: rule for rule in rules}
    assert seen["uploads"]["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert seen["versions"]["Filter"] == {"Prefix": "logs/"}
    assert seen["versions"]["NoncurrentVersionExpiration"]["NoncurrentDays"] == 30
    assert seen["versions"]["Expiration"] == {"ExpiredObjectDeleteMarker": True}
    assert seen["cold"]["Filter"] == {"Tag": {"Key": "cold", "Value": "yes"}}
    assert seen["cold"]["Expiration"] == {"Days": 400}
    assert seen["cold"]["Transitions"] == [{"StorageClass": "GLACIER", "Days": 90}]
    assert seen["cold"]["NoncurrentVersionTransitions"][0]["NoncurrentDays"] == 60
    logging = s3.get_bucket_logging(Bucket=name)["LoggingEnabled"]
    assert (logging["TargetBucket"], logging["TargetPrefix"]) == (ids["Logs"], "a/")
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"

    changed = stack.update({"Logs": bucket(), "Bucket": bucket(), "Policy": policy("s3:Put*")})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    document = json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])
    assert document["Statement"][0]["Action"] == "s3:Put*"
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Suspended"
    assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket=name)
    for ask in (
        s3.get_bucket_lifecycle_configuration,
        s3.get_bucket_tagging,
        s3.get_public_access_block,
    ):
        with pytest.raises(ClientError, match="NoSuch"):
            ask(Bucket=name)
    stack.delete()


def test_policy_goes_when_the_template_drops_it(local_aws: LocalAws, stack: Stack) -> None:
    stack.create({"Bucket": bucket(), "Policy": policy("s3:GetObject")})
    stack.update({"Bucket": bucket()})
    with pytest.raises(ClientError, match="NoSuchBucketPolicy"):
        local_aws.client("s3").get_bucket_policy(Bucket=stack.ids()["Bucket"])
    stack.delete()


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"MetricsConfigurations": [{"Id": "all"}]}, "no MetricsConfigurations of a bucket"),
        (
            {"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "Unheard": 1}]}},
            "no Unheard of a lifecycle rule",
        ),
    ],
)
def test_setting_that_would_be_lost_is_refused_and_nothing_is_left(
    local_aws: LocalAws, stack: Stack, properties: dict[str, Any], message: str
) -> None:
    made = stack.create({"Bucket": bucket(**properties)})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert message in made["StackStatusReason"]
    assert stack.name.lower() not in str(local_aws.client("s3").list_buckets()["Buckets"])
