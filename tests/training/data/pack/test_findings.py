from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.data.annotation_mending import Choices
from training.data.check import check_dataset, examine
from training.data.clean import write_clean_set
from training.data.health_page import render
from training.data.pack.index import ShardIndex
from training.data.splits import find_splits
from training.data.subset import Wanted, write_subset
from training.errors import UsageError
from training.layout import TrainChannel

Pack = Callable[..., list[Any]]


@pytest.fixture
def packed(source: Path, tmp_path: Path, pack_set: Pack) -> TrainChannel:
    """The sample in shards, with no loose picture."""
    pack_set(source, tmp_path / "out")
    return TrainChannel(tmp_path / "out")


def codes(channel: TrainChannel) -> list[str]:
    return [
        finding.code
        for finding in check_dataset(channel, ["train2017", "val2017"])
        if finding.severity == "error"
    ]


def test_a_packed_set_passes_the_check_before_a_launch(packed: TrainChannel) -> None:
    assert codes(packed) == []
    health = examine(find_splits(packed.root))
    assert health.errors == 0
    assert [split.split.name for split in health.splits] == ["train2017", "val2017"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("train2017-00001.tar", "shards-missing"), ("members.npy", "shards-unreadable")],
)
def test_what_is_missing_of_the_shards_is_told(packed: TrainChannel, name: str, code: str) -> None:
    (packed.shards("train2017") / name).unlink()
    assert codes(packed) == [code]


def test_shards_of_other_annotations_are_told(packed: TrainChannel) -> None:
    path = packed.annotations("train2017")
    path.write_text(path.read_text().replace("6818", "999001"))
    assert codes(packed) == ["shards-lack-images"]


def replace_bytes(channel: TrainChannel, image_id: int, content: bytes) -> None:
    """Write over the beginning of a picture in its shard."""
    index = ShardIndex.open(channel.shards("train2017"))
    shard, offset, _ = index.find(image_id) or pytest.fail("no such picture")
    with (index.folder / index.shards[shard].name).open("r+b") as file:
        file.seek(offset)
        file.write(content)


def test_pictures_in_shards_are_decoded_as_loose_ones_are(
    packed: TrainChannel, source: Path
) -> None:
    of_shards, of_files = (
        next(split for split in examine(find_splits(root)).splits if split.split.name != "val2017")
        for root in (packed.root, source)
    )
    assert of_shards.counts and of_files.counts
    assert len(of_shards.counts.known) == 11
    assert of_shards.counts == of_files.counts


def test_a_damaged_picture_in_a_shard_is_found_and_shown(packed: TrainChannel) -> None:
    replace_bytes(packed, 6818, b"<html>")
    replace_bytes(packed, 397133, b"\xff\xd8" + bytes(40_000))
    path = packed.annotations("train2017")
    content = json.loads(path.read_bytes())
    beside = next(one for one in content["annotations"] if one["image_id"] == 41888)
    beside["bbox"] = [1, 1, 0, 5]
    path.write_text(json.dumps(content))
    assert codes(packed) == ["annotation-box-empty"]
    health = examine(find_splits(packed.root, ["train2017"]), exhibits=8)
    found = {one.code: one.message for one in health.findings if one.severity == "error"}
    assert found.keys() == {"annotation-box-empty", "image-unreadable"}
    assert found["image-unreadable"].startswith("2 ")
    assert "'000000006818.jpg' (text, perhaps an error page" in found["image-unreadable"]
    page = render(packed.root, health)
    assert page.count("<figure") == 3
    # Two cannot be decoded; the third is drawn with its box.
    assert page.count('src="data:image/webp;base64,') == 1


def test_shards_are_not_read_where_only_headers_are_asked_for(
    packed: TrainChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShardIndex, "read", None)
    health = examine(find_splits(packed.root), decode=False)
    assert (health.errors, health.splits[0].counts) == (0, None)


def test_a_packed_set_cannot_be_cleaned_or_chosen_from_and_says_why(
    packed: TrainChannel, tmp_path: Path
) -> None:
    splits = find_splits(packed.root)
    with pytest.raises(UsageError, match="the pictures of train2017 lie in shards, and loose"):
        write_clean_set([(split, {}) for split in splits], tmp_path / "fixed", Choices())
    with pytest.raises(UsageError, match="the pictures of train2017 lie in shards, and loose"):
        write_subset(splits, tmp_path / "few", Wanted(images=1))
    assert not (tmp_path / "fixed").exists()


def test_a_cleaned_copy_judges_the_loose_pictures_not_those_of_the_shards(
    source: Path, tmp_path: Path, pack_set: Pack
) -> None:
    pack_set(source, source)
    next(iter((source / "val2017").iterdir())).write_bytes(b"")
    health = examine(find_splits(source, ["val2017"]))
    assert health.errors == 0
    (split,) = health.splits
    assert split.known_files() == {}
    copy = write_clean_set([(split.split, split.known_files())], tmp_path / "out", Choices())
    assert [one.pictures for one in copy.splits] == [1]
