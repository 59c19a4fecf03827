"""Makes the listing of a bucket cost a fraction of the CPU time.

botocore's parser goes by its model of the answer, field by field: 0.15 ms an object, as much as
copying it takes. Of an object a copy needs its key, its size and its ETag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def hasten_listings(client: S3Client) -> None:
    """Let a client tell only `Key`, `Size` and `ETag` of what `list_objects_v2` finds.

    Requests, retries, errors, pages and the decoding of keys remain botocore's.
    """
    client.meta.events.register(
        "before-parse.s3.ListObjectsV2", _take_contents, unique_id="listing-contents"
    )


def _take_contents(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any
) -> None:
    """Parse the objects of an answer, and leave botocore the rest of it."""
    if response_dict["status_code"] != 200:
        return
    try:
        # As safe as botocore, which parses the same bytes with the same parser.
        answer = Xml.fromstring(response_dict["body"])  # noqa: S314
    except Xml.ParseError:
        return  # botocore's error says more.
    space = answer.tag[: answer.tag.find("}") + 1]
    found = answer.findall(f"{space}Contents")
    if not found:
        return
    key, size, etag = f"{space}Key", f"{space}Size", f"{space}ETag"
    customized_response_dict["Contents"] = [
        {
            "Key": one.findtext(key, ""),
            "Size": int(one.findtext(size, "")),
            "ETag": one.findtext(etag, ""),
        }
        for one in found
    ]
    for one in found:
        answer.remove(one)
    response_dict["body"] = Xml.tostring(answer)
