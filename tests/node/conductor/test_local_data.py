"""Data from S3, by the program `aws` of the bench."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from node.conductor import local_data
from node.conductor.local_data import bring_data
from node.errors import NodeError
from tests.node.conductor.bench import Bench
from training.data.manifest import Entry, Manifest

SOURCE = "s3://bucket/train"


class Place(NamedTuple):
    bucket: Path
    folder: Path
    bench: Bench


@pytest.fixture
def place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name, value in bench.environment.items():
        monkeypatch.setenv(name, value)
    bucket = bench.folder / "aws" / "s3" / "bucket" / "train"
    texts = {"train2017/a b.jpg": "picture", "annotations/instances_train2017.json": "{}"}
    for name, text in texts.items():
        (bucket / name).parent.mkdir(parents=True)
        (bucket / name).write_text(text)
    entries = [Entry(path=n, size=len(t), sha256="0" * 64) for n, t in texts.items()]
    # As `python -m training.data stage` writes it.
    (bucket / "manifest.json").write_bytes(Manifest.of(entries).to_bytes())
    return Place(bucket, bench.folder / "scratch" / "train", bench)


def test_data_is_copied_once_and_checked(place: Place) -> None:
    said: list[str] = []
    bring_data(SOURCE, place.folder, said.append)
    assert (place.folder / "train2017" / "a b.jpg").read_text() == "picture"
    assert said[-1] == "copied: 2 files, 9 bytes, as the manifest says"
    bring_data(f"{SOURCE}/", place.folder, said.append)
    assert said[-1] == f"{place.folder} has the data of {SOURCE} already: 2 files"
    assert len(place.bench.calls("aws", "s3", "sync")) == 1


def test_what_is_missing_here_is_copied_again(place: Place) -> None:
    bring_data(SOURCE, place.folder, lambda _text: None)
    (place.folder / "train2017" / "a b.jpg").write_text("")
    bring_data(SOURCE, place.folder, lambda _text: None)
    assert (place.folder / "train2017" / "a b.jpg").read_text() == "picture"


def test_another_data_set_of_the_same_sizes_is_copied(place: Place) -> None:
    bring_data(SOURCE, place.folder, lambda _text: None)
    (place.bucket / "train2017" / "a b.jpg").write_text("another")
    manifest = place.bucket / "manifest.json"
    manifest.write_text(manifest.read_text().replace("0" * 64, "1" * 64))
    bring_data(SOURCE, place.folder, lambda _text: None)
    assert (place.folder / "train2017" / "a b.jpg").read_text() == "another"


def test_a_copy_that_lacks_a_file_is_refused(place: Place) -> None:
    (place.bucket / "train2017" / "a b.jpg").unlink()
    with pytest.raises(NodeError, match=r"1 of 2 files are missing .* train2017/a b\.jpg"):
        bring_data(SOURCE, place.folder, lambda _text: None)
    assert not (place.folder / ".whole.json").exists()


def test_too_little_room_is_said_before_the_copy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(shutil.disk_usage("/"))(total=3 << 30, used=2 << 30, free=1 << 30)
    monkeypatch.setattr(local_data.shutil, "disk_usage", lambda _folder: usage)
    with pytest.raises(NodeError, match=r"2\.0 GiB are needed for the data, 1\.0 GiB are free"):
        bring_data(SOURCE, place.folder, lambda _text: None)
    assert not place.bench.calls("aws", "s3", "sync")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"files": []}', json.dumps({"files": [{"path": "../x", "size": 1}]})]
)
def test_what_is_no_manifest_is_refused(place: Place, text: str) -> None:
    (place.bucket / "manifest.json").write_text(text)
    with pytest.raises(NodeError, match="is no manifest of this program"):
        bring_data(SOURCE, place.folder, lambda _text: None)


def test_data_that_was_not_staged_is_refused_with_the_way_out(place: Place) -> None:
    (place.bucket / "manifest.json").unlink()
    with pytest.raises(NodeError, match=r"Is the data staged\? python -m training\.data stage"):
        bring_data(SOURCE, place.folder, lambda _text: None)
