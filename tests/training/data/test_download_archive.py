from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.training.data.download_sets import fetch, files_below, item_of, zip_of
from tests.training.data.faulty_server import serving
from training.data.download.archive import BadArchive, judge, members_of
from training.data.download.catalogue import Contents
from training.errors import JobFailed

GOOD = {"train2017/a.jpg": b"a" * 100, "train2017/b.jpg": b"b" * 100}
CONTENTS = Contents(folder="train2017", suffix=".jpg", files=2, bytes=200)


def judge_zip(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        judge(members_of(archive), CONTENTS)


def zip_with(change: Callable[[zipfile.ZipInfo], None]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in GOOD.items():
            info = zipfile.ZipInfo(name)
            if name.endswith("b.jpg"):
                change(info)
            archive.writestr(info, data)
    return buffer.getvalue()


def make_link(info: zipfile.ZipInfo) -> None:
    info.external_attr = (stat.S_IFLNK | 0o777) << 16


def test_the_zip_that_is_meant_passes_with_and_without_its_folder_entry() -> None:
    judge_zip(zip_of(GOOD))
    judge_zip(zip_of({"train2017/": b"", **GOOD}))


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"train2017/a.jpg": b"", "../b.jpg": b""}, "no file may have"),
        ({"train2017/a.jpg": b"", "/etc/b.jpg": b""}, "no file may have"),
        ({"train2017/a.jpg": b"", "train2017/../../b.jpg": b""}, "no file may have"),
        ({"train2017/a.jpg": b"", "train2017/..\\b.jpg": b""}, "is not directly in the folder"),
        ({"train2017/a.jpg": b"", "train2017/sub/b.jpg": b""}, "is not directly in the folder"),
        ({"train2017/a.jpg": b"", "val2017/b.jpg": b""}, "is not directly in the folder"),
        ({"train2017/a.jpg": b"", "train2017/b.sh": b""}, "is no .jpg file"),
        ({"train2017/a.jpg": b"", "train2017/A.jpg": b""}, "more than once"),
        ({"train2017/a.jpg": b""}, "it holds 1 files train2017/*.jpg, not 2"),
        ({**GOOD, "train2017/c.jpg": b""}, "it holds 3 files train2017/*.jpg, not 2"),
        ({"train2017/a.jpg": bytes(300), "train2017/b.jpg": bytes(200)}, "would unpack to 500"),
    ],
)
def test_a_zip_with_anything_else_is_refused(files: dict[str, bytes], says: str) -> None:
    with pytest.raises(BadArchive) as caught:
        judge_zip(zip_of(files))
    assert says in str(caught.value)


def test_links_and_odd_compression_are_refused() -> None:
    with pytest.raises(BadArchive, match="is a link or a device"):
        judge_zip(zip_with(make_link))
    with pytest.raises(BadArchive, match="is packed in an unusual way"):
        judge_zip(zip_of(GOOD, zipfile.ZIP_LZMA))


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zip_of(GOOD))
    directory = data.rindex(b"PK\x01\x02")
    data[directory + 8] |= 1
    with pytest.raises(BadArchive, match="is encrypted"):
        judge_zip(bytes(data))


@pytest.mark.parametrize("name", ["../escaped.jpg", "train2017/../../escaped.jpg"])
def test_a_path_that_leads_out_is_refused_before_anything_is_unpacked(
    name: str, tmp_path: Path
) -> None:
    data = zip_of({"train2017/a.jpg": b"a", name: b"b"})
    with serving({"train2017.zip": data}) as server:
        item = item_of(data, [f"{server.address}/train2017.zip"], files=2)
        with pytest.raises(JobFailed, match="no file may have"):
            fetch(item, tmp_path / "set")
    assert "escaped" not in " ".join(files_below(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: data[: len(data) // 2], "it is no zip, or is damaged"),
        (lambda data: b"x" * len(data), "it is no zip, or is damaged"),
        (lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:], "a.jpg' is damaged"),
        (lambda data: data.replace(b"train2017/a", b"train2017/z", 1), "a.jpg' is damaged"),
    ],
    ids=["truncated", "no zip", "wrong CRC", "names differ"],
)
def test_a_damaged_zip_at_the_source_is_refused_and_leaves_nothing(
    damage: Callable[[bytes], bytes], says: str, tmp_path: Path
) -> None:
    data = damage(zip_of(GOOD, zipfile.ZIP_STORED))
    with serving({"train2017.zip": data}) as server:
        item = item_of(data, [f"{server.address}/train2017.zip"], files=2)
        with pytest.raises(JobFailed, match=says):
            fetch(item, tmp_path)
    assert files_below(tmp_path) == {}
