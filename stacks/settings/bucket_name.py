"""Which names a bucket can have.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

BUCKET_NAME_ALLOWED = "3 to 63 small letters, digits, hyphens, dots"

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ADDRESS = re.compile(r"([0-9]{1,3}\.){3}[0-9]{1,3}")

RESERVED_PREFIXES = ("xn--", "sthree-", "amzn-s3-demo-")
RESERVED_SUFFIXES = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
"""Of access points, directory buckets and table buckets, which cannot take this one's place."""


def problems_of_bucket_name(name: str) -> Iterator[str]:
    """Yield why no general purpose bucket is called so."""
    if not _NAME.fullmatch(name):
        yield "no bucket is called so"
    for pair in ("..", ".-", "-."):
        if pair in name:
            yield f"no bucket's name holds {pair}"
    if _ADDRESS.fullmatch(name):
        yield "no bucket's name looks like an IP address"
    for prefix in RESERVED_PREFIXES:
        if name.startswith(prefix):
            yield f"names that begin with {prefix} are reserved by S3"
    for suffix in RESERVED_SUFFIXES:
        if name.endswith(suffix):
            yield f"names that end with {suffix} are not of general purpose buckets"
