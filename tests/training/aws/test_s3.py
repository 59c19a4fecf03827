"""Buckets, as S3 describes them."""

from __future__ import annotations

import boto3
from botocore.stub import Stubber

from training.aws.s3 import S3


def test_the_first_keys_of_a_prefix_are_found_also_where_there_are_none() -> None:
    client = boto3.client(
        "s3", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )
    asked = {"Bucket": "b", "Prefix": "a/"}
    with Stubber(client) as stubber:
        stubber.add_response(
            "list_objects_v2", {"KeyCount": 1, "Contents": [{"Key": "a/1"}]}, asked
        )
        stubber.add_response("list_objects_v2", {"KeyCount": 0}, asked)
        assert S3(client).first_keys("b", "a/") == ["a/1"]
        assert S3(client).first_keys("b", "a/") == []
