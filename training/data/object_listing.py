"""Lists the objects of a place in a bucket, in several parts at once where there are many.

S3 tells 1,000 objects an answer, and what to ask for next only with it: COCO's 118,287 pictures are
119 answers one after the other. Whoever knows some keys that are likely there can have what lies
between them listed at the same time. The parts together are the whole: what is nobody's guess is
listed all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from training.data.threads import thread_pool

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectTypeDef

MOST_PARTS = 8

KEYS_AN_ANSWER = 1000
"""https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html"""

_UNORDERED = "--x-s3"
"""Ends the name of a directory bucket, whose listings are in no order and cannot begin at a key:
https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-buckets-overview.html"""


def list_objects(
    client: S3Client, bucket: str, prefix: str, near: Callable[[], Iterable[str]]
) -> Iterator[ObjectTypeDef]:
    """Yield all objects whose keys begin with a prefix, in the order of their keys.

    Args:
        client: With as many connections as parts may be listed at once.
        bucket: Which.
        prefix: Of the keys.
        near: Returns keys that are likely there; asked only where one answer does not hold all.
    """
    where: Mapping[str, Any] = {"Bucket": bucket, "Prefix": prefix}
    if bucket.endswith(_UNORDERED):
        yield from _list(client, where, "", None)
        return
    first = client.list_objects_v2(**where)
    found = first.get("Contents", ())
    yield from found
    if not first.get("NextContinuationToken"):
        return
    last = found[-1]["Key"] if found else ""
    parts = min(MOST_PARTS, client.meta.config.max_pool_connections)  # type: ignore[attr-defined]
    bounds = _bounds(sorted(key for key in near() if key > last), parts)

    def rest(after: str, until: str | None) -> list[ObjectTypeDef]:
        return list(_list(client, where, after, until))

    with thread_pool(1 + len(bounds)) as pool:
        for part in pool.map(rest, [last, *bounds], [*bounds, None]):
            yield from part


def _list(
    client: S3Client, where: Mapping[str, Any], after: str, until: str | None
) -> Iterator[ObjectTypeDef]:
    """Yield the objects behind one key, and up to another, which is the last one."""
    request: Any = {**where, "StartAfter": after} if after else where
    for page in client.get_paginator("list_objects_v2").paginate(**request):
        for found in page.get("Contents", ()):
            if until is not None and found["Key"] > until:
                return
            yield found
            if found["Key"] == until:
                return


def _bounds(keys: list[str], parts: int) -> list[str]:
    """Return those of some keys in order that cut their listing into parts of whole answers.

    S3 orders keys by their UTF-8, which is the order of the characters.
    """
    answers = -(-len(keys) // KEYS_AN_ANSWER)
    step = -(-answers // parts) * KEYS_AN_ANSWER
    return keys[step - 1 : -1 : step] if step else []
