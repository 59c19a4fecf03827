from __future__ import annotations

import os
from pathlib import Path

import pytest
from boto3.s3.transfer import TransferConfig

from tests.training.data.conftest import S3
from training.data.bucket import Bucket
from training.data.folder import Folder
from training.data.manifest import Entry, Manifest
from training.data.progress import SILENT
from training.data.side import Side
from training.data.stage import Manner, list_source, stage
from training.data.verify import Difference, bytes_to_compare, verify


def write(root: Path, **files: bytes) -> Folder:
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        (root / name).write_bytes(content)
    return Folder(root)


def compare(left: Side, right: Side) -> list[Difference]:
    return verify(left, right, left.files(), right.files(), jobs=2, progress=SILENT)


def test_every_difference_is_named_with_its_side(tmp_path: Path) -> None:
    left = write(tmp_path / "l", same=b"1", only_left=b"22", longer=b"333", other=b"abc")
    right = write(tmp_path / "r", same=b"1", only_right=b"4", longer=b"33", other=b"abd")
    found = {(item.path, item.kind, item.side) for item in compare(left, right)}
    assert found == {
        ("only_left", "missing", right.name),
        ("only_right", "missing", left.name),
        ("longer", "size", right.name),
        ("other", "content", right.name),
    }


def test_equal_copies_have_no_difference(tmp_path: Path) -> None:
    left, right = write(tmp_path / "l", a=b"1"), write(tmp_path / "r", a=b"1")
    assert compare(left, right) == []
    assert bytes_to_compare(left.files(), right.files()) == 1


def test_a_file_that_both_copies_lack_is_found_by_the_manifest(tmp_path: Path) -> None:
    left, right = write(tmp_path / "l", a=b"1"), write(tmp_path / "r", a=b"1")
    entries = [
        Entry(path="a", size=2, sha256="0" * 64),
        Entry(path="gone", size=1, sha256="0" * 64),
    ]
    with right.writing(print):
        right.write_manifest(Manifest.of(entries))
    assert [(item.path, item.kind, item.side, item.detail) for item in compare(left, right)] == [
        ("a", "manifest", right.name, "listed with 2 bytes, has 1"),
        ("gone", "manifest", right.name, "listed, but not there"),
    ]


@pytest.mark.parametrize("content", [b"same", b"else"])
def test_an_object_without_a_checksum_in_s3_is_read_and_compared(
    content: bytes, tmp_path: Path, s3: S3
) -> None:
    left = write(tmp_path / "l", a=b"same")
    s3.client.put_object(Bucket=s3.bucket, Key="x/a", Body=content)
    found = compare(left, Bucket(s3.client, s3.bucket, "x"))
    assert [item.kind for item in found] == ([] if content == b"same" else ["content"])


def test_a_large_object_that_another_program_cut_in_other_parts_is_equal(
    tmp_path: Path, s3: S3
) -> None:
    content = os.urandom(17 * 1024 * 1024)
    left = write(tmp_path / "l", a=content)
    s3.client.upload_file(
        str(left.root / "a"),
        s3.bucket,
        "x/a",
        ExtraArgs={"ChecksumAlgorithm": "SHA256"},
        Config=TransferConfig(multipart_threshold=1, multipart_chunksize=6 * 1024 * 1024),
    )
    assert compare(left, Bucket(s3.client, s3.bucket, "x")) == []


def test_a_staged_copy_is_compared_without_downloading_it(tmp_path: Path, s3: S3) -> None:
    left, bucket = write(tmp_path / "l", a=b"1"), Bucket(s3.client, s3.bucket, "x")
    stage(left, bucket, list_source(left), Manner(jobs=1))
    read: list[str] = []
    s3.client.meta.events.register(
        "provide-client-params.s3.GetObject", lambda params, **_: read.append(params["Key"])
    )
    assert compare(left, Bucket(s3.client, s3.bucket, "x")) == []
    assert set(read) == {"x/manifest.json"}
