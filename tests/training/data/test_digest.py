from __future__ import annotations

import hashlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data import digest as module
from training.data.digest import MIB, Digest, Digester, digest_of, part_bytes


def base64_sha256(data: bytes) -> str:
    return b64encode(hashlib.sha256(data).digest()).decode()


@given(st.binary(max_size=200))
def test_s3s_checksum_of_a_small_file_is_its_own_sha256(data: bytes) -> None:
    digest = digest_of([data], len(data))
    assert digest == Digest(hashlib.sha256(data).hexdigest(), base64_sha256(data))


@given(st.binary(min_size=11, max_size=200), st.lists(st.integers(1, 37), min_size=1))
def test_s3s_checksum_of_a_large_file_is_that_of_its_parts_however_it_is_read(
    data: bytes, lengths: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SINGLE_PART_BYTES", 10)
        patch.setattr(module, "MIB", 1)
        digester = Digester(len(data))
        at = 0
        while at < len(data):
            length = lengths[at % len(lengths)]
            digester.update(data[at : at + length])
            at += length
        parts = [data[start : start + 10] for start in range(0, len(data), 10)]
    together = b"".join(hashlib.sha256(part).digest() for part in parts)
    expected = Digest(hashlib.sha256(data).hexdigest(), base64_sha256(together))
    assert digester.digest() == expected


@given(st.integers(1, 5 * 1024**4))
def test_parts_are_never_more_than_s3_takes_nor_smaller_than_it_wants(size: int) -> None:
    length = part_bytes(size)
    assert 5 * MIB <= length <= 5 * 1024 * MIB
    assert -(-size // length) <= 10_000


@pytest.mark.parametrize(
    ("left", "right", "agrees"),
    [
        (Digest("a", "x"), Digest("a", "y"), True),
        (Digest("a"), Digest("b"), False),
        (Digest(None, "x"), Digest("a", "x"), True),
        (Digest(None, "x"), Digest("a", "y"), False),
        (Digest("a"), Digest(None, "x"), None),
        (Digest(), Digest("a", "x"), None),
    ],
)
def test_digests_are_compared_by_what_both_know(
    left: Digest, right: Digest, agrees: bool | None
) -> None:
    assert left.agrees(right) is agrees
