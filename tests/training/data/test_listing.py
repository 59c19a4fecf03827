"""What botocore tells of a listing when this program has taken the objects out of the answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse, HeadersDict

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


def answering(s3: S3, *bodies: bytes) -> list[int]:
    """Let the server answer a client with these bodies first, each with 200; count the requests."""
    left, seen = list(bodies), []

    def answer(request: Any, **_: Any) -> AWSResponse | None:
        seen.append(len(left))
        if not left:
            return None
        raw = SimpleNamespace(stream=lambda *_, **__: iter(()))
        response = AWSResponse(request.url, 200, HeadersDict(), raw)
        response._content = left.pop(0)
        return response

    s3.client.meta.events.register_first("before-send.s3", answer)
    return seen


BROKEN = pytest.mark.parametrize(
    "body",
    [b"<Error><Code>InternalError</Code><Message>Try again</Message></Error>", b"<ListBucketRes"],
    ids=["an error", "cut off"],
)


@BROKEN
def test_a_listing_that_failed_after_its_status_is_asked_for_again(s3: S3, body: bytes) -> None:
    s3.client.put_object(Bucket=s3.bucket, Key="a.jpg", Body=b"a")
    hasten_listings(s3.client)
    requests = answering(s3, body)
    assert [one["Key"] for one in list_keys(s3)["Contents"]] == ["a.jpg"]
    assert len(requests) == 2


@BROKEN
def test_other_answers_are_looked_through_for_errors_as_before(s3: S3, body: bytes) -> None:
    hasten_listings(s3.client)
    s3.client.put_object(Bucket=s3.bucket, Key="a.jpg", Body=b"a")
    requests = answering(s3, body)
    source = {"Bucket": s3.bucket, "Key": "a.jpg"}
    s3.client.copy_object(Bucket=s3.bucket, Key="b.jpg", CopySource=source)
    assert len(requests) == 2
    assert [one["Key"] for one in list_keys(s3)["Contents"]] == ["a.jpg", "b.jpg"]
