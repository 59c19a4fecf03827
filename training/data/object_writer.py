"""An object on its way to S3."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from training.data.digest import SINGLE_PART_BYTES, Digester, part_bytes, to_base64
from training.data.side import FileState

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class ObjectWriter:
    """An object on its way: one PUT, or parts; S3 compares each with our SHA-256 of it."""

    def __init__(self, client: S3Client, bucket: str, key: str, size: int) -> None:
        self._client = client
        self._place: Any = {"Bucket": bucket, "Key": key}
        self._size = size
        self._is_parted = size > SINGLE_PART_BYTES
        self._part_bytes = part_bytes(size)
        self._buffer = bytearray()
        self._upload_id: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._there: dict[int, dict[str, Any]] = {}
        """Part number to what an interrupted upload left."""

    def begin(self, digester: Digester, *, resume: bool) -> int:  # noqa: ARG002
        """Look for an unfinished upload. The source is read from its start anyway, and parts that
        S3 has already, by their checksum, are not sent again."""
        if self._is_parted:
            self._upload_id = self._unfinished_upload()
        if self._upload_id:
            pages = self._client.get_paginator("list_parts").paginate(
                **self._place, UploadId=self._upload_id
            )
            self._there = {
                part["PartNumber"]: dict(part) for page in pages for part in page.get("Parts", ())
            }
        return 0

    def _unfinished_upload(self) -> str | None:
        pages = self._client.get_paginator("list_multipart_uploads").paginate(
            Bucket=self._place["Bucket"], Prefix=self._place["Key"]
        )
        uploads = [
            upload
            for page in pages
            for upload in page.get("Uploads", ())
            if upload["Key"] == self._place["Key"] and upload.get("ChecksumAlgorithm") == "SHA256"
        ]
        latest = max(uploads, key=lambda upload: upload["Initiated"], default=None)
        return latest["UploadId"] if latest else None

    def write(self, chunk: bytes) -> None:
        self._buffer += chunk
        while self._is_parted and len(self._buffer) >= self._part_bytes:
            self._send_part(bytes(self._buffer[: self._part_bytes]))
            del self._buffer[: self._part_bytes]

    def _send_part(self, data: bytes) -> None:
        number = len(self._parts) + 1
        checksum = to_base64(hashlib.sha256(data).digest())
        there = self._there.get(number)
        if there and there.get("ChecksumSHA256") == checksum and there["Size"] == len(data):
            etag = there["ETag"]
        else:
            etag = self._client.upload_part(
                **self._place,
                UploadId=self._require_upload(),
                PartNumber=number,
                Body=data,
                ChecksumAlgorithm="SHA256",
                ChecksumSHA256=checksum,
            )["ETag"]
        self._parts.append({"PartNumber": number, "ETag": etag, "ChecksumSHA256": checksum})

    def _require_upload(self) -> str:
        if self._upload_id is None:
            self._upload_id = self._client.create_multipart_upload(
                **self._place, ChecksumAlgorithm="SHA256"
            )["UploadId"]
        return self._upload_id

    def commit(self) -> FileState:
        data = bytes(self._buffer)
        if not self._is_parted:
            answer: Any = self._client.put_object(
                **self._place,
                Body=data,
                ChecksumAlgorithm="SHA256",
                ChecksumSHA256=to_base64(hashlib.sha256(data).digest()),
            )
        else:
            if data:
                self._send_part(data)
            answer = self._client.complete_multipart_upload(
                **self._place,
                UploadId=self._require_upload(),
                MultipartUpload={"Parts": self._parts},  # type: ignore[typeddict-item]
            )
        self._buffer.clear()
        return FileState(self._size, bare_etag(answer["ETag"]))

    def discard(self) -> None:
        self._buffer.clear()
        if self._upload_id:
            self._client.abort_multipart_upload(**self._place, UploadId=self._upload_id)

    def close(self) -> None:
        self._buffer.clear()


def bare_etag(etag: str) -> str:
    return etag.strip('"')
