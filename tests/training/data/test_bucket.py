from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ResponseStreamingError

from tests.training.data.conftest import S3
from training.data import bucket as module
from training.data.bucket import Bucket
from training.data.digest import SINGLE_PART_BYTES, Digester, digest_of
from training.data.manifest import Entry, Manifest
from training.data.object_writer import ObjectWriter
from training.data.side import ContentChanged, FileState
from training.errors import JobFailed, UsageError

NAMES = ["plain.jpg", "a b.jpg", "ü/日本.jpg", "plus+#%25&=.jpg", "quote'\".txt", "A", "a"]
LARGE = bytes(range(256)) * (SINGLE_PART_BYTES // 256) * 2 + b"the end"
"""Three parts, the last one short."""


@pytest.fixture
def bucket(s3: S3) -> Bucket:
    return Bucket(s3.client, s3.bucket, "data/train")


def put(bucket: Bucket, path: str, content: bytes) -> FileState:
    writer = bucket.writer(path, len(content), "")
    writer.begin(Digester(len(content)), resume=False)
    for start in range(0, len(content), 3_000_000):
        writer.write(content[start : start + 3_000_000])
    return writer.commit()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_comes_back_whole(name: str, bucket: Bucket) -> None:
    state = put(bucket, name, b"content")
    assert bucket.files() == {name: state}
    assert b"".join(bucket.read(name, state)) == b"content"


def test_a_file_of_no_bytes_comes_back(bucket: Bucket) -> None:
    state = put(bucket, "empty", b"")
    assert bucket.files() == {"empty": FileState(0, state.version)}
    assert list(bucket.read("empty", state)) == []


def test_files_outside_the_prefix_the_manifest_and_folder_marks_are_no_data(
    bucket: Bucket, s3: S3
) -> None:
    for key in ("data/train2/x", "data/train/", "data/train/a/", "data/train/manifest.json"):
        s3.client.put_object(Bucket=s3.bucket, Key=key, Body=b"")
    assert bucket.files() == {}


@pytest.mark.parametrize("key", ["data/train//etc/passwd", "data/train/a/../../x"])
def test_a_key_that_would_leave_the_folder_is_refused(key: str, bucket: Bucket, s3: S3) -> None:
    # moto normalises such an address before it stores the key, so S3's listing is given here.
    def page(parsed: dict[str, Any], **_: Any) -> None:
        parsed["Contents"] = [{"Key": key, "Size": 1, "ETag": '"x"'}]

    s3.client.meta.events.register("after-call.s3.ListObjectsV2", page)
    with pytest.raises(UsageError, match="cannot be copied to a folder"):
        bucket.files()


def test_more_files_than_one_page_of_a_listing_are_all_listed(bucket: Bucket, s3: S3) -> None:
    for number in range(5):
        put(bucket, str(number), b"")

    def small_pages(params: dict[str, Any], **_: Any) -> None:
        params["MaxKeys"] = 2

    s3.client.meta.events.register("provide-client-params.s3.ListObjectsV2", small_pages)
    assert sorted(bucket.files()) == ["0", "1", "2", "3", "4"]


def test_a_bucket_that_is_not_there_is_named(s3: S3) -> None:
    with pytest.raises(UsageError, match="s3://no-such-bucket/x: there is no such bucket"):
        Bucket(s3.client, "no-such-bucket", "x").files()


def test_a_large_file_goes_in_parts_and_s3_has_the_checksum_that_we_compute(
    bucket: Bucket,
) -> None:
    state = put(bucket, "large", LARGE)
    assert state.version.endswith("-3")
    assert b"".join(bucket.read("large", state)) == LARGE
    ours = digest_of([LARGE], len(LARGE))
    assert bucket.digest("large", state).agrees(ours) is True


def test_a_part_that_an_interrupted_upload_left_is_not_sent_again(bucket: Bucket, s3: S3) -> None:
    sent: list[tuple[int, str]] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        sent.append((params["PartNumber"], params["ChecksumSHA256"]))

    def add_checksums(parsed: dict[str, Any], **_: Any) -> None:
        # S3 lists them; moto does not.
        for part in parsed.get("Parts", []):
            part["ChecksumSHA256"] = dict(sent)[part["PartNumber"]]

    s3.client.meta.events.register("provide-client-params.s3.UploadPart", note)
    s3.client.meta.events.register("after-call.s3.ListParts", add_checksums)
    interrupted = bucket.writer("large", len(LARGE), "")
    interrupted.begin(Digester(len(LARGE)), resume=False)
    interrupted.write(LARGE[: SINGLE_PART_BYTES + 5])
    interrupted.close()
    assert [number for number, _ in sent] == [1]

    state = put(bucket, "large", LARGE)
    assert [number for number, _ in sent] == [1, 2, 3]
    assert b"".join(bucket.read("large", state)) == LARGE


def test_a_part_whose_content_changed_since_is_sent_again(bucket: Bucket) -> None:
    interrupted = bucket.writer("large", len(LARGE), "")
    interrupted.begin(Digester(len(LARGE)), resume=False)
    interrupted.write(b"x" * SINGLE_PART_BYTES)
    interrupted.close()
    state = put(bucket, "large", LARGE)
    assert b"".join(bucket.read("large", state)) == LARGE


def test_discarded_parts_are_removed_from_s3(bucket: Bucket, s3: S3) -> None:
    writer = bucket.writer("large", len(LARGE), "")
    writer.begin(Digester(len(LARGE)), resume=False)
    writer.write(LARGE[:SINGLE_PART_BYTES])
    writer.discard()
    assert "Uploads" not in s3.client.list_multipart_uploads(Bucket=s3.bucket)
    assert bucket.files() == {}


def test_an_object_that_was_replaced_since_it_was_listed_is_not_read(bucket: Bucket) -> None:
    state = put(bucket, "a", b"first")
    put(bucket, "a", b"other")
    with pytest.raises(ContentChanged, match="train/a: changed or vanished"):
        list(bucket.read("a", state))
    with pytest.raises(ContentChanged, match="train/a: changed or vanished"):
        bucket.digest("a", state)


class BreakingBody:
    """A body that gives some bytes and breaks off."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def iter_chunks(self, _size: int) -> Iterator[bytes]:
        yield self._content
        raise ResponseStreamingError(error="connection reset")

    def close(self) -> None:
        pass


@pytest.mark.parametrize("breaks", [1, module.READ_ATTEMPTS - 1])
def test_a_download_that_breaks_off_goes_on_where_it_was(
    breaks: int, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = put(bucket, "a", b"0123456789")
    offsets: list[int] = []
    real_open = bucket._open

    def open_breaking(path: str, state: FileState, offset: int) -> Any:
        offsets.append(offset)
        if len(offsets) <= breaks:
            return BreakingBody(b"0123456789"[offset : offset + 2])
        return real_open(path, state, offset)

    monkeypatch.setattr(bucket, "_open", open_breaking)
    assert b"".join(bucket.read("a", state)) == b"0123456789"
    assert offsets == [2 * number for number in range(breaks + 1)]


def test_a_download_that_always_breaks_off_fails_with_the_place(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = put(bucket, "a", b"0123456789")
    monkeypatch.setattr(bucket, "_open", lambda *_: BreakingBody(b""))
    with pytest.raises(JobFailed, match=r"broke off 5 times at 0 of 10 bytes .*connection reset"):
        list(bucket.read("a", state))


def test_a_manifest_comes_back_from_the_bucket(bucket: Bucket) -> None:
    assert bucket.read_manifest() is None
    manifest = Manifest.of([Entry(path="a", size=1, sha256="0" * 64)])
    bucket.write_manifest(manifest)
    assert bucket.read_manifest() == manifest


def test_the_digest_of_an_unchanged_object_comes_from_the_manifest(bucket: Bucket) -> None:
    state = put(bucket, "a", b"content")
    entry = Entry(path="a", size=7, sha256="1" * 64, etag=state.version)
    bucket.write_manifest(Manifest.of([entry]))
    assert bucket.digest("a", state).sha256 == "1" * 64


def test_every_request_carries_the_checksum_that_s3_is_to_verify(bucket: Bucket, s3: S3) -> None:
    seen: list[dict[str, Any]] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        seen.append(params)

    s3.client.meta.events.register("provide-client-params.s3.PutObject", note)
    put(bucket, "a", b"content")
    assert seen[0]["ChecksumSHA256"] == digest_of([b"content"], 7).s3_sha256


def test_small_files_need_one_request(s3: S3) -> None:
    calls: list[str] = []
    s3.client.meta.events.register("before-call.s3", lambda model, **_: calls.append(model.name))
    writer = ObjectWriter(s3.client, s3.bucket, "k", 3)
    writer.begin(Digester(3), resume=True)
    writer.write(b"abc")
    writer.commit()
    assert calls == ["PutObject"]
