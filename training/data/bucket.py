"""A place in an S3 bucket as one side of a copy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)
from urllib3.exceptions import HTTPError

from training.data.digest import CHUNK_BYTES, Digest, Digester
from training.data.listing import hasten_listings
from training.data.lock import Hold, Tell
from training.data.manifest import MANIFEST, Entry, Manifest, parse_manifest
from training.data.object_listing import list_objects
from training.data.object_writer import ObjectWriter, bare_etag
from training.data.paths import key_of, path_of
from training.data.side import PARTIAL, ContentChanged, FileState
from training.errors import JobFailed, UsageError

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

JOURNAL = f"{PARTIAL}/{MANIFEST}"
"""Of a copy to S3 in progress: what has arrived, as a manifest."""

MOST_KEYS = 1000
"""Of one request to delete: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html"""

READ_ATTEMPTS = 5
"""botocore repeats a request that fails, not the reading of a body that breaks off."""

_MD5 = re.compile("[0-9a-f]{32}")

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

    root: Path | None = None

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        """Args: `prefix` is clean (`training.data.paths.clean_prefix`)."""
        hasten_listings(client)
        self._client = client
        self.bucket: str = bucket
        self._prefix = prefix
        self._has_journal = False
        """As far as `files` and `write_journal` have seen."""
        self._manifests: dict[str, tuple[str, Manifest]] = {}
        """Read already, with their ETags: COCO's takes half a second to parse."""
        self.name = f"s3://{bucket}/{prefix}"

    def files(self, near: Collection[str] = ()) -> dict[str, FileState]:
        try:
            return self._list(near)
        except ClientError as error:
            if _code(error) == "NoSuchBucket":
                raise UsageError(f"{self.name}: there is no such bucket") from error
            raise

    def _list(self, near: Collection[str]) -> dict[str, FileState]:
        start = f"{self._prefix}/" if self._prefix else ""
        files: dict[str, FileState] = {}

        def likely() -> Iterator[str]:
            return (f"{start}{path}" for path in near or self._paths_in_manifest())

        for found in list_objects(self._client, self.bucket, start, likely):
            key, size = found["Key"], found["Size"]
            if key.endswith("/") and size == 0:
                continue  # What the S3 console makes for a folder.
            path = path_of(self._prefix, key)
            self._has_journal |= path == JOURNAL
            if path != MANIFEST and not path.startswith(f"{PARTIAL}/"):
                files[path] = FileState(size, bare_etag(found["ETag"]))
        return files

    def _paths_in_manifest(self) -> Iterable[str]:
        try:
            manifest = self.read_manifest()
        except (ClientError, UsageError):
            return ()  # It is a help, and who needs what it says reads it again.
        return [entry.path for entry in manifest.files] if manifest else ()

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
                Bucket=self.bucket,
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

    def told(self, path: str, state: FileState) -> Digest:
        entry = self._known_entries.get(path)
        if entry and entry.etag == state.version:
            return Digest(sha256=entry.sha256)
        return Digest(etag=state.version if _MD5.fullmatch(state.version) else None)

    def digest(self, path: str, state: FileState, *, md5: bool = False) -> Digest:  # noqa: ARG002
        told = self.told(path, state)
        if told.sha256:
            return told
        answer = self._client.head_object(
            Bucket=self.bucket, Key=key_of(self._prefix, path), ChecksumMode="ENABLED"
        )
        if bare_etag(answer["ETag"]) != state.version:
            raise self._changed(path)
        return Digest(s3_sha256=_checksum(answer), md5=None if _is_opaque(answer) else told.etag)

    @cached_property
    def _known_entries(self) -> dict[str, Entry]:
        """What the manifest says, and the journal of a copy that was interrupted since."""
        found = [self.read_manifest(), self._read(JOURNAL) if self._has_journal else None]
        return {path: entry for one in found if one for path, entry in one.by_path().items()}

    def etag(self, state: FileState) -> str | None:
        return state.version

    def writing(self, tell: Tell) -> AbstractContextManager[Hold]:  # noqa: ARG002
        return nullcontext(Hold())

    def free_bytes(self) -> int | None:
        return None

    def writer(self, path: str, size: int, source_version: str) -> ObjectWriter:  # noqa: ARG002
        key = key_of(self._prefix, path)
        return ObjectWriter(self._client, self.bucket, key, size)

    def read_manifest(self) -> Manifest | None:
        return self._read(MANIFEST)

    def _read(self, path: str) -> Manifest | None:
        key = key_of(self._prefix, path)
        try:
            answer = self._client.get_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if _code(error) == "NoSuchKey":
                return None
            raise
        with closing(answer["Body"]) as body:
            etag, manifest = self._manifests.get(path, (None, None))
            if manifest is None or etag != answer["ETag"]:
                manifest = parse_manifest(body.read(), self._url(path))
                self._manifests[path] = answer["ETag"], manifest
        return manifest

    def write_manifest(self, manifest: Manifest) -> None:
        self._write(MANIFEST, manifest.to_bytes())
        if self._has_journal:
            self._remove_journal()

    def write_journal(self, manifest: Manifest) -> None:
        self._has_journal = True
        self._write(JOURNAL, manifest.to_bytes())

    def _write(self, path: str, data: bytes) -> None:
        writer = self.writer(path, len(data), "")
        writer.begin(Digester(len(data)), resume=False)
        writer.write(data)
        writer.commit()

    def _remove_journal(self) -> None:
        try:
            self._client.delete_object(Bucket=self.bucket, Key=key_of(self._prefix, JOURNAL))
        except ClientError as error:
            # Who may write need not be allowed to delete, and it does no harm: it tells of an
            # object only as long as that has the same ETag.
            if _code(error) != "AccessDenied":
                raise

    def remove(self, paths: Collection[str]) -> None:
        keys = [key_of(self._prefix, path) for path in sorted(paths)]
        for start in range(0, len(keys), MOST_KEYS):
            answer = self._client.delete_objects(
                Bucket=self.bucket,
                Delete={
                    "Objects": [{"Key": key} for key in keys[start : start + MOST_KEYS]],
                    "Quiet": True,
                },
            )
            for error in answer.get("Errors", ()):
                raise JobFailed(
                    f"s3://{self.bucket}/{error.get('Key')}: cannot be deleted "
                    f"({error.get('Code')}: {error.get('Message')})"
                )

    def _url(self, path: str) -> str:
        return f"s3://{self.bucket}/{key_of(self._prefix, path)}"

    def _changed(self, path: str) -> ContentChanged:
        return ContentChanged(
            f"{self._url(path)}: changed or vanished during the copy. Wait until nothing writes "
            "there, run again"
        )


def _is_opaque(answer: Any) -> bool:
    """Return whether the object is encrypted so that its ETag is no MD5."""
    return "SSECustomerAlgorithm" in answer or "kms" in answer.get("ServerSideEncryption", "")


def _checksum(answer: Any) -> str | None:
    """Return the base64 of `ChecksumSHA256`, without the number of parts that may follow it."""
    checksum: str | None = answer.get("ChecksumSHA256")
    return checksum.partition("-")[0] if checksum else None


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
