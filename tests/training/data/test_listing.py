"""What botocore tells of a listing when this program has taken the objects out of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.data.conftest import S3
from training.data.listing import hasten_listings

FIELDS = ("Key", "Size", "ETag")


def list_keys(s3: S3, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = s3.client.list_objects_v2(Bucket=s3.bucket, **options)
    return found


@pytest.mark.parametrize("times", [1, 2])
def test_a_hastened_listing_tells_what_botocore_tells(s3: S3, times: int) -> None:
    keys = ["a b.jpg", "plus+%25&=.jpg", "quote'\"<.txt", "ü/日本.jpg"]
    for key in keys:
        s3.client.put_object(Bucket=s3.bucket, Key=key, Body=key.encode())
    before = list_keys(s3, MaxKeys=3)
    for _ in range(times):
        hasten_listings(s3.client)
    after = list_keys(s3, MaxKeys=3)
    assert after["Contents"] == [{name: one[name] for name in FIELDS} for one in before["Contents"]]
    for name in ("IsTruncated", "KeyCount", "MaxKeys", "Name"):
        assert after[name] == before[name]
    rest = list_keys(s3, ContinuationToken=after["NextContinuationToken"])
    assert [one["Key"] for one in after["Contents"] + rest["Contents"]] == sorted(keys)


def test_a_listing_of_nothing_has_no_contents(s3: S3) -> None:
    hasten_listings(s3.client)
    assert "Contents" not in list_keys(s3)
