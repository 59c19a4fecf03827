"""Listings in parts at once: they are what one listing in a row is, whatever was guessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.data.conftest import S3
from training.data import object_listing as module
from training.data.bucket import Bucket
from training.data.manifest import Entry, Manifest
from training.data.object_listing import list_objects

KEYS = st.lists(st.text("aAz/-~ü日😀", min_size=1, max_size=3), max_size=25, unique=True)


class PagedS3:
    """Stands for a bucket of S3, and answers as its documentation of ListObjectsV2 says."""

    def __init__(
        self, keys: Sequence[str], connections: int = 8, empty_first: bool = False
    ) -> None:
        self._keys = sorted(keys, key=str.encode)
        self._empty_first = empty_first
        self.meta = SimpleNamespace(config=SimpleNamespace(max_pool_connections=connections))
        self.requests: list[dict[str, Any]] = []

    def get_paginator(self, operation: str) -> SimpleNamespace:
        def paginate(**request: str) -> Iterator[dict[str, Any]]:
            answer = self.list_objects_v2(**request)
            yield answer
            while "NextContinuationToken" in answer:
                token = answer["NextContinuationToken"]
                answer = self.list_objects_v2(**request, ContinuationToken=token)
                yield answer

        assert operation == "list_objects_v2"
        return SimpleNamespace(paginate=paginate)

    def list_objects_v2(self, **request: str) -> dict[str, Any]:
        self.requests.append(request)
        after = request.get("ContinuationToken", request.get("StartAfter", "")).encode()
        left = [key for key in self._keys if key.encode() > after]
        size = module.KEYS_AN_ANSWER
        if self._empty_first and len(self.requests) == 1 and left:
            return {"IsTruncated": True, "NextContinuationToken": "\0"}
        answer: dict[str, Any] = {"IsTruncated": len(left) > size}
        if left:
            answer["Contents"] = [{"Key": key} for key in left[:size]]
        if len(left) > size:
            answer["NextContinuationToken"] = left[size - 1]
        return answer


def list_keys(s3: Any, near: Sequence[str], bucket: str = "b") -> list[str]:
    return [found["Key"] for found in list_objects(s3, bucket, "", lambda: near)]


def starts_of(s3: PagedS3) -> list[str]:
    """Return the keys behind which parts began."""
    return sorted({one["StartAfter"] for one in s3.requests if "StartAfter" in one})


@pytest.fixture
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEYS_AN_ANSWER", 2)


@settings(max_examples=300, deadline=None)
@given(
    keys=KEYS, near=KEYS, right=st.booleans(), connections=st.integers(1, 9), empty=st.booleans()
)
def test_every_key_is_told_once_and_in_order_whatever_was_guessed(
    keys: list[str], near: list[str], right: bool, connections: int, empty: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "KEYS_AN_ANSWER", 2)
        s3 = PagedS3(keys, connections, empty_first=empty)
        assert list_keys(s3, [*keys, *near] if right else near) == sorted(keys, key=str.encode)


@pytest.mark.usefixtures("small_answers")
def test_known_keys_cost_no_request_more_than_one_listing_in_a_row() -> None:
    keys = [f"{number:02d}" for number in range(40)]
    s3 = PagedS3(keys)
    assert list_keys(s3, keys) == keys
    assert len(s3.requests) == 20
    assert starts_of(s3) == ["01", "07", "13", "19", "25", "31", "37"]


@pytest.mark.usefixtures("small_answers")
@pytest.mark.parametrize(
    ("connections", "starts"), [(1, ["01"]), (2, ["01", "21"]), (3, ["01", "15", "29"])]
)
def test_no_more_parts_than_connections(connections: int, starts: list[str]) -> None:
    keys = [f"{number:02d}" for number in range(40)]
    s3 = PagedS3(keys, connections)
    assert list_keys(s3, keys) == keys
    assert starts_of(s3) == starts


@pytest.mark.usefixtures("small_answers")
def test_nobody_is_asked_for_keys_where_one_answer_holds_all() -> None:
    def near() -> Iterator[str]:
        raise AssertionError

    assert [one["Key"] for one in list_objects(PagedS3("ab"), "b", "", near)] == ["a", "b"]  # type: ignore[arg-type]


@pytest.mark.usefixtures("small_answers")
def test_a_directory_bucket_which_has_no_order_is_listed_in_a_row() -> None:
    keys = [f"{number:02d}" for number in range(40)]
    s3 = PagedS3(keys)
    assert list_keys(s3, keys, "data--use1-az4--x-s3") == keys
    assert starts_of(s3) == []


@pytest.mark.usefixtures("small_answers")
@pytest.mark.parametrize("told", ["paths", "manifest", "nothing", "no manifest"])
def test_a_bucket_tells_the_same_with_any_help(told: str, s3: S3) -> None:
    """Through moto and botocore, whose answers are cut to the same two objects."""
    paths = [f"train2017/{number} ü+%.jpg" for number in range(30)]
    for path in paths:
        s3.client.put_object(Bucket=s3.bucket, Key=f"x/{path}", Body=path.encode())
    bucket = Bucket(s3.client, s3.bucket, "x")
    if told == "manifest":
        bucket.write_manifest(
            Manifest.of(Entry(path=path, size=1, sha256="0" * 64) for path in paths)
        )
    if told == "no manifest":
        s3.client.put_object(Bucket=s3.bucket, Key="x/manifest.json", Body=b"{}")
    requests: list[dict[str, Any]] = []

    def small_pages(params: dict[str, Any], **_: Any) -> None:
        params["MaxKeys"] = 2
        requests.append(params)

    s3.client.meta.events.register("provide-client-params.s3.ListObjectsV2", small_pages)
    files = bucket.files(paths if told == "paths" else ())
    assert sorted(files) == sorted(paths)
    starts = {request["StartAfter"] for request in requests if "StartAfter" in request}
    assert (len(starts) > 1) == (told in {"paths", "manifest"})
