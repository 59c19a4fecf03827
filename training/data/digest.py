"""Checksums of a file: the whole file's, and the one that S3 keeps of it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass

MIB = 1024 * 1024
SINGLE_PART_BYTES = 16 * MIB
"""Up to here a file is one PUT, held in memory; above it is uploaded in parts of at least this."""
MOST_PARTS = 10_000
"""S3's limit: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""

CHUNK_BYTES = MIB


def part_bytes(size: int) -> int:
    """Return the length of the parts of a file of `size` bytes; the last one is what is left.

    It depends on the size alone, so that a part uploaded by an interrupted copy is the same part
    in the next one, and S3's checksum of the parts can be computed from a copy of the file.
    """
    smallest = -(-size // MOST_PARTS)
    return max(SINGLE_PART_BYTES, -(-smallest // MIB) * MIB)


@dataclass(frozen=True)
class Digest:
    """What is known of a file's content; two digests are compared by what both know.

    Attributes:
        sha256: Of the whole file, in hex.
        s3_sha256: The `ChecksumSHA256` that S3 keeps of it, in base64: for a file in parts, the
            SHA-256 of the SHA-256s of its parts.
        md5: Of the whole file, in hex.
        etag: That S3 has for it, where it may be the MD5. It is not where S3 encrypts with a KMS
            key: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html
    """

    sha256: str | None = None
    s3_sha256: str | None = None
    md5: str | None = None
    etag: str | None = None

    @property
    def whole(self) -> str:
        """The SHA-256 of the whole file, where it must be known."""
        assert self.sha256
        return self.sha256

    def agrees(self, other: Digest) -> bool | None:
        """Return whether the contents are equal, or None where the two have nothing in common."""
        if self.sha256 and other.sha256:
            return self.sha256 == other.sha256
        if self.s3_sha256 and other.s3_sha256:
            return self.s3_sha256 == other.s3_sha256
        if self.md5 and other.md5:
            return self.md5 == other.md5
        if (self.md5 and self.md5 == other.etag) or (other.md5 and other.md5 == self.etag):
            return True
        return None

    def joined(self, other: Digest) -> Digest:
        """Return what both together tell of one content."""
        return Digest(
            self.sha256 or other.sha256,
            self.s3_sha256 or other.s3_sha256,
            self.md5 or other.md5,
            self.etag or other.etag,
        )


class Digester:
    """Computes the digest of a file of a known size from its bytes.

    Its MD5 only where that is asked for: it takes three times as long as SHA-256.
    """

    def __init__(self, size: int, *, md5: bool = False) -> None:
        self.seen_bytes = 0
        # No secret depends on it: it is what S3's ETag is compared with.
        self._md5 = hashlib.md5(usedforsecurity=False) if md5 else None
        self._whole = hashlib.sha256()
        self._is_parted = size > SINGLE_PART_BYTES
        self._part_bytes = part_bytes(size)
        if self._is_parted:
            self._part = hashlib.sha256()
            self._parts = hashlib.sha256()

    def update(self, chunk: bytes) -> None:
        self._whole.update(chunk)
        if self._md5:
            self._md5.update(chunk)
        if self._is_parted:
            self._update_parts(memoryview(chunk))
        self.seen_bytes += len(chunk)

    def _update_parts(self, chunk: memoryview) -> None:
        at = self.seen_bytes
        while chunk:
            left = self._part_bytes - at % self._part_bytes
            self._part.update(chunk[:left])
            at += min(left, len(chunk))
            chunk = chunk[left:]
            if at % self._part_bytes == 0:
                self._end_part()

    def _end_part(self) -> None:
        self._parts.update(self._part.digest())
        self._part = hashlib.sha256()

    def digest(self) -> Digest:
        """Return the digest of all bytes so far; call it once, at the end."""
        md5 = self._md5.hexdigest() if self._md5 else None
        if not self._is_parted:
            whole = self._whole.digest()
            return Digest(whole.hex(), to_base64(whole), md5)
        if self.seen_bytes % self._part_bytes:
            self._end_part()
        return Digest(self._whole.hexdigest(), to_base64(self._parts.digest()), md5)


def digest_of(chunks: Iterable[bytes], size: int, *, md5: bool = False) -> Digest:
    digester = Digester(size, md5=md5)
    for chunk in chunks:
        digester.update(chunk)
    return digester.digest()


def to_base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")
