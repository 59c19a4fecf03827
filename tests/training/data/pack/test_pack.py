from __future__ import annotations

import json
import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.data.download.space import Free
from training.data.pack import pack as pack_module
from training.data.pack import shard as shard_module
from training.data.pack.index import ShardIndex, is_packed
from training.data.pack.target import Kind
from training.errors import JobFailed, PreflightError, UsageError

Pack = Callable[..., list[Any]]
KINDS = list(Kind)
COCO = Path(__file__).parents[3] / "data" / "coco"


def shards_of(out: Path) -> Path:
    return out / "shards" / "train2017"


def test_a_shard_is_a_tar_file_with_the_pictures_own_bytes(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    (train, _) = pack_set(source, tmp_path / "out")
    assert (train.pictures, train.shards, train.written) == (11, 2, 2)
    seen = []
    for path in sorted(shards_of(tmp_path / "out").glob("*.tar")):
        with tarfile.open(path) as shard:
            names = shard.getnames()
            for picture, entries in zip(names[::2], names[1::2], strict=True):
                key = picture.removesuffix(".jpg")
                assert entries == f"{key}.json"
                content = shard.extractfile(picture)
                assert content is not None
                assert content.read() == (source / "train2017" / picture).read_bytes()
                seen.append(key)
    assert sorted(f"{key}.jpg" for key in seen) == sorted(
        path.name for path in (source / "train2017").iterdir()
    )


def test_a_sample_has_its_entries_of_the_annotation_file(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    pack_set(source, tmp_path / "out")
    document = json.loads((source / "annotations/instances_train2017.json").read_bytes())
    image = document["images"][0]
    for path in shards_of(tmp_path / "out").glob("*.tar"):
        with tarfile.open(path) as shard:
            if f"{image['id']:012d}.json" not in shard.getnames():
                continue
            file = shard.extractfile(f"{image['id']:012d}.json")
            assert file is not None
            assert json.load(file) == {
                "image": image,
                "annotations": [a for a in document["annotations"] if a["image_id"] == image["id"]],
            }
            return
    pytest.fail("no shard has it")


def test_the_index_gives_each_picture_by_its_id(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    pack_set(source, tmp_path / "out")
    index = ShardIndex.open(shards_of(tmp_path / "out"))
    assert len(index.image_ids) == 11
    for image_id in index.image_ids.tolist():
        loose = source / "train2017" / f"{image_id:012d}.jpg"
        assert index.read(image_id) == loose.read_bytes()
        assert index.place(image_id).name == loose.stem
    with pytest.raises(OSError, match="no shard has image 5"):
        index.read(5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_set_gives_the_same_bytes_wherever_and_whenever_it_is_packed(
    source: Path, tmp_path: Path, pack_set: Pack, digests: Any, kind: Kind
) -> None:
    shutil.copytree(source, tmp_path / "copy", copy_function=shutil.copyfile)
    pack_set(source, tmp_path / "one", kind, workers=1)
    pack_set(tmp_path / "copy", tmp_path / "two", kind, workers=2)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_packed_is_not_packed_again(
    source: Path, tmp_path: Path, pack_set: Pack, digests: Any, kind: Kind
) -> None:
    pack_set(source, tmp_path / "out", kind)
    before = digests(tmp_path / "out")
    assert [one.written for one in pack_set(source, tmp_path / "out", kind)] == [0, 0]
    assert digests(tmp_path / "out") == before


def test_a_set_may_get_its_shards_beside_its_pictures(
    source: Path, pack_set: Pack, verify_set: Callable[..., list[Any]]
) -> None:
    pack_set(source, source)
    assert is_packed(shards_of(source))
    assert verify_set(source, source) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_failed_goes_on_with_what_it_had(
    source: Path,
    tmp_path: Path,
    pack_set: Pack,
    digests: Any,
    kind: Kind,
) -> None:
    whole = tmp_path / "whole"
    pack_set(source, whole, kind)
    out = tmp_path / "out"
    taken = source / "val2017" / "000000475546.jpg"
    kept = taken.rename(tmp_path / "kept.jpg")
    with pytest.raises(PreflightError, match=r"1 of 2 pictures are missing.*000000475546\.jpg"):
        pack_set(source, out, kind)
    kept.rename(taken)
    assert [one.written for one in pack_set(source, out, kind)] == [0, 1]
    assert digests(out) == digests(whole)


def test_shards_of_an_interrupted_run_are_kept(
    source: Path, tmp_path: Path, pack_set: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shard_module.read_member

    def fail_at(folder: Path, member: Any) -> bytes:
        if member.name == "000000226111.jpg":
            raise OSError(28, "No space left on device", str(folder / member.name))
        return real(folder, member)

    monkeypatch.setattr("training.data.pack.tar.read_member", fail_at)
    with pytest.raises(JobFailed, match=r"No space left on device\. What is written stays"):
        pack_set(source, tmp_path / "out")
    there = sorted(path.name for path in shards_of(tmp_path / "out").glob("*.tar"))
    assert len(there) == 1
    assert not is_packed(shards_of(tmp_path / "out"))
    monkeypatch.undo()
    assert pack_set(source, tmp_path / "out")[0].written == 1


def test_a_picture_that_changes_during_the_run_is_found(
    source: Path, tmp_path: Path, pack_set: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pack_module.make_plan

    def plan_then_change(*args: Any, **kwargs: Any) -> Any:
        plan = real(*args, **kwargs)
        (source / "train2017" / "000000006818.jpg").write_bytes(b"another")
        return plan

    monkeypatch.setattr(pack_module, "make_plan", plan_then_change)
    with pytest.raises(JobFailed, match=r"000000006818\.jpg: changed while it was packed"):
        pack_set(source, tmp_path / "out")


def test_shards_of_a_set_that_was_changed_since_are_not_taken_for_those_of_now(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    pack_set(source, tmp_path / "out")
    picture = source / "train2017" / "000000006818.jpg"
    os.utime(picture, (time.time() + 10, time.time() + 10))
    with pytest.raises(UsageError, match="was written to since"):
        pack_set(source, tmp_path / "out")
    picture.write_bytes(b"x")
    with pytest.raises(UsageError, match="another state of the set, or with other options"):
        pack_set(source, tmp_path / "out")


def test_what_another_interrupted_plan_left_is_removed(
    source: Path, tmp_path: Path, pack_set: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error", "index.json")

    with monkeypatch.context() as patch:
        patch.setattr("training.data.pack.pack._write_index", fail)
        with pytest.raises(JobFailed):
            pack_set(source, tmp_path / "out", Kind.TFRECORD)
    assert list((tmp_path / "out").glob("train2017-*-of-00002.tfrecord"))
    pack_set(source, tmp_path / "out", Kind.TFRECORD, mib=2)
    assert [path.name for path in (tmp_path / "out").glob("train2017-*")] == [
        "train2017-00000-of-00001.tfrecord"
    ]


def test_a_file_of_somebody_else_is_not_overwritten(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    foreign = shards_of(tmp_path / "out") / "train2017-00001.tar"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"train2017-00001\.tar: is there already"):
        pack_set(source, tmp_path / "out")
    assert foreign.read_bytes() == b"mine"
    other = tmp_path / "other" / "annotations" / "instances_train2017.json"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"{}")
    with pytest.raises(UsageError, match="is another annotation file than"):
        pack_set(source, tmp_path / "other")


def test_a_set_that_training_would_refuse_is_not_packed(
    source: Path, tmp_path: Path, pack_set: Pack, change_document: Any
) -> None:
    change_document(lambda document: document["images"].append(document["images"][0]))
    with pytest.raises(PreflightError, match=r"id \d+ at images\[0\] and \[11\].*check --fix"):
        pack_set(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_with_folders_dots_and_other_letters_are_packed_by_id(
    source: Path, tmp_path: Path, pack_set: Pack, change_document: Any
) -> None:
    name = "a b/größe_jpg.rf.12ab.JPG"
    first = json.loads((source / "annotations/instances_train2017.json").read_bytes())["images"][0]
    target = source / "train2017" / name
    target.parent.mkdir()
    (source / "train2017" / first["file_name"]).rename(target)
    change_document(lambda document: document["images"][0].update(file_name=name))
    pack_set(source, tmp_path / "out")
    index = ShardIndex.open(shards_of(tmp_path / "out"))
    assert index.read(first["id"]) == target.read_bytes()


@pytest.mark.parametrize(
    ("kind", "place"), [(Kind.WEBDATASET, 700), (Kind.WEBDATASET, -3000), (Kind.TFRECORD, 700)]
)
def test_a_byte_that_differs_is_found(
    tmp_path: Path, pack_set: Pack, verify_set: Any, kind: Kind, place: int
) -> None:
    source, out = COCO, tmp_path / "out"
    pack_set(source, out, kind)
    assert verify_set(source, out, kind) == []
    damaged = sorted(out.rglob("train2017-00001*"))[0]
    content = bytearray(damaged.read_bytes())
    content[place] ^= 1
    damaged.write_bytes(content)
    found = verify_set(source, out, kind)
    assert [difference.path for difference in found] == [damaged, damaged]
    assert "differs" in found[0].detail
    assert "SHA-256" in found[1].detail


def test_a_missing_shard_and_a_wrong_place_are_found(
    source: Path, tmp_path: Path, pack_set: Pack, verify_set: Any
) -> None:
    out = tmp_path / "out"
    pack_set(source, out)
    members = shards_of(out) / "members.npy"
    content = bytearray(members.read_bytes())
    content[-1] ^= 1
    members.write_bytes(content)
    (shards_of(out) / "train2017-00000.tar").unlink()
    found = [difference.detail for difference in verify_set(source, out)]
    assert "is missing" in found
    assert len(found) in {1, 2}


def test_two_runs_of_one_place_do_not_meet(source: Path, tmp_path: Path, pack_set: Pack) -> None:
    import fcntl

    folder = shards_of(tmp_path / "out") / ".train2017.packing"
    folder.mkdir(parents=True)
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        with pytest.raises(UsageError, match="another run packs train2017 there; wait for it"):
            pack_set(source, tmp_path / "out")
    finally:
        os.close(lock)


@pytest.mark.parametrize("kind", ["a pipe", "a path out of the set", "a path from the root"])
def test_what_is_no_file_of_the_set_is_not_packed(
    kind: str, source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    picture = next((source / "val2017").iterdir())
    name = picture.name
    if kind == "a pipe":
        picture.unlink()
        os.mkfifo(picture)
    else:
        picture.rename(tmp_path / picture.name)
        name = f"../../{name}" if kind == "a path out of the set" else str(tmp_path / name)
        path = source / "annotations/instances_val2017.json"
        content = path.read_text()
        assert picture.name in content
        path.write_text(content.replace(f'"{picture.name}"', json.dumps(name)))
    with pytest.raises(PreflightError, match="1 of 2 pictures are missing, the first is"):
        pack_set(source, tmp_path / "out")
    assert not (tmp_path / "out/shards/val2017").exists()


def test_a_disk_without_room_is_told_before_anything_is_written(
    source: Path, tmp_path: Path, pack_set: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_module, "free_at", lambda _: Free(1_000_000, None))
    with pytest.raises(PreflightError, match="1,000,000 bytes are free, and the pictures of train"):
        pack_set(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_packed_set_is_not_packed_again_and_says_why(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    pack_set(source, tmp_path / "out")
    with pytest.raises(UsageError, match="the pictures of train2017 lie in shards, and loose"):
        pack_set(tmp_path / "out", tmp_path / "again")
