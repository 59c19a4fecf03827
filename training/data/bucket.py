"""A place in an S3 bucket as one side of a copy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cached_property
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)
from urllib3.exceptions import HTTPError

from training.data.digest import (
    CHUNK_BYTES,
    SINGLE_PART_BYTES,
    Digest,
    Digester,
    part_bytes,
    to_base64,
)
from training.data.manifest import MANIFEST, Manifest, parse_manifest
from training.data.paths import key_of, path_of
from training.data.side import PARTIAL, ContentChanged, FileState
from training.errors import JobFailed, UsageError

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

READ_ATTEMPTS = 5
"""botocore repeats a request that fails, not the reading of a body that breaks off."""

_BROKEN_BODY = (
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
    HTTPError,
    HTTPException,
    OSError,
)


class Bucket:
    """A `Side` in S3. Objects get the bucket's own encryption, and S3 checks each by SHA-256."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        """Args: `prefix` is clean (`training.data.paths.clean_prefix`)."""
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self.name = f"s3://{bucket}/{prefix}"

    def files(self) -> dict[str, FileState]:
        try:
            return self._list()
        except ClientError as error:
            if _code(error) == "NoSuchBucket":
                raise UsageError(f"{self.name}: there is no such bucket") from error
            raise

    def _list(self) -> dict[str, FileState]:
        start = f"{self._prefix}/" if self._prefix else ""
        files: dict[str, FileState] = {}
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=start
        )
        for page in pages:
            for found in page.get("Contents", ()):
                key, size = found["Key"], found["Size"]
                if key.endswith("/") and size == 0:
                    continue  # What the S3 console makes for a folder.
                path = path_of(self._prefix, key)
                if path != MANIFEST and not path.startswith(f"{PARTIAL}/"):
                    files[path] = FileState(size, _bare(found["ETag"]))
        return files

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        failures = 0
        while offset < state.size:
            body = self._open(path, state, offset)
            try:
                with closing(body):
                    for chunk in body.iter_chunks(CHUNK_BYTES):
                        offset += len(chunk)
                        yield chunk
            except _BROKEN_BODY as error:
                failures += 1
                if failures == READ_ATTEMPTS:
                    raise JobFailed(
                        f"{self._url(path)}: the download broke off {failures} times at "
                        f"{offset:,} of {state.size:,} bytes ({error}). Run again to go on"
                    ) from error

    def _open(self, path: str, state: FileState, offset: int) -> StreamingBody:
        request: Any = {"Range": f"bytes={offset}-"} if offset else {}
        try:
            return self._client.get_object(
                Bucket=self._bucket,
                Key=key_of(self._prefix, path),
                IfMatch=f'"{state.version}"',
                **request,
            )["Body"]
        except ClientError as error:
            if _code(error) in {"PreconditionFailed", "NoSuchKey"}:
                raise self._changed(path) from error
            raise

    def require_unchanged(self, path: str, state: FileState) -> None:
        """Do nothing: each read asked for that ETag, and the last listing is compared anyway."""

    def digest(self, path: str, state: FileState) -> Digest:
        entry = self._manifest_entries.get(path)
        if entry and entry.etag == state.version:
            return Digest(sha256=entry.sha256)
        answer = self._client.head_object(
            Bucket=self._bucket, Key=key_of(self._prefix, path), ChecksumMode="ENABLED"
        )
        if _bare(answer["ETag"]) != state.version:
            raise self._changed(path)
        return Digest(s3_sha256=_checksum(answer))

    @cached_property
    def _manifest_entries(self) -> dict[str, Any]:
        manifest = self.read_manifest()
        return manifest.by_path() if manifest else {}

    def etag(self, state: FileState) -> str | None:
        return state.version

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def free_bytes(self) -> int | None:
        return None

    def writer(self, path: str, size: int, source_version: str) -> ObjectWriter:  # noqa: ARG002
        key = key_of(self._prefix, path)
        return ObjectWriter(self._client, self._bucket, key, size)

    def read_manifest(self) -> Manifest | None:
        key = key_of(self._prefix, MANIFEST)
        try:
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        except ClientError as error:
            if _code(error) == "NoSuchKey":
                return None
            raise
        return parse_manifest(body.read(), self._url(MANIFEST))

    def write_manifest(self, manifest: Manifest) -> None:
        data = manifest.to_bytes()
        writer = self.writer(MANIFEST, len(data), "")
        writer.begin(Digester(len(data)), resume=False)
        writer.write(data)
        writer.commit()

    def _url(self, path: str) -> str:
        return f"s3://{self._bucket}/{key_of(self._prefix, path)}"

    def _changed(self, path: str) -> ContentChanged:
        return ContentChanged(
            f"{self._url(path)}: changed or vanished during the copy. Wait until nothing writes "
            "there, run again"
        )


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
        return FileState(self._size, _bare(answer["ETag"]))

    def discard(self) -> None:
        self._buffer.clear()
        if self._upload_id:
            self._client.abort_multipart_upload(**self._place, UploadId=self._upload_id)

    def close(self) -> None:
        self._buffer.clear()


def _bare(etag: str) -> str:
    return etag.strip('"')


def _checksum(answer: Any) -> str | None:
    """Return the base64 of `ChecksumSHA256`, without the number of parts that may follow it."""
    checksum: str | None = answer.get("ChecksumSHA256")
    return checksum.partition("-")[0] if checksum else None


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
