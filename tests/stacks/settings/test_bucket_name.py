"""Which names a bucket can have, for data and for access logs."""

from __future__ import annotations

import pytest

from stacks.settings import Settings
from training.errors import UsageError


@pytest.mark.parametrize("key", ["bucket_name", "bucket_access_logs"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my..bucket", "no bucket's name holds .."),
        ("my-.bucket", "no bucket's name holds -."),
        ("my.-bucket", "no bucket's name holds .-"),
        ("192.168.1.1", "no bucket's name looks like an IP address"),
        ("xn--bucket", "names that begin with xn-- are reserved by S3"),
        ("sthree-bucket", "names that begin with sthree- are reserved by S3"),
        ("amzn-s3-demo-bucket", "names that begin with amzn-s3-demo- are reserved by S3"),
        ("bucket-s3alias", "names that end with -s3alias are not of general purpose buckets"),
        ("bucket--ol-s3", "names that end with --ol-s3 are not"),
        ("bucket.mrap", "names that end with .mrap are not"),
        ("bucket--usw2-az1--x-s3", "names that end with --x-s3 are not"),
        ("bucket--table-s3", "names that end with --table-s3 are not"),
        ("bu", "no bucket is called so"),
        ("b" * 64, "no bucket is called so"),
        ("-bucket", "no bucket is called so"),
        ("bucket.", "no bucket is called so"),
        ("b\u00fccket", "no bucket is called so"),
    ],
)
def test_what_no_bucket_is_called_is_refused(key: str, name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings.from_context({key: name})
    assert str(error.value).startswith(f"context key {key} = {name!r}: {said}")


@pytest.mark.parametrize("name", ["my.bucket-1", "1.2.3", "b--x", "192.168.1.1a", "b" * 63])
def test_other_names_are_taken(name: str) -> None:
    settings = Settings.from_context({"bucket_name": name}).bucket
    assert settings.name == name
    assert Settings.from_context({"bucket_access_logs": name}).bucket.access_logs == name
