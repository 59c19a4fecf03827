"""Training from shards is training from loose files."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from training.data.pack.pack import pack
from training.data.pack.target import Kind
from training.data.splits import find_splits
from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches

ALONE = {"rank": 0, "size": 1, "local_size": 1, "position": 0}


@pytest.fixture
def packed(shapes: TrainChannel, tmp_path: Path) -> TrainChannel:
    """The shapes in shards, with no loose picture."""
    out = tmp_path / "packed"
    pack(find_splits(shapes.root), out, kind=Kind.WEBDATASET, shard_mib=1, workers=1)
    return TrainChannel(out)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_the_same(
    shapes: TrainChannel, packed: TrainChannel, tiny: Any, workers: int
) -> None:
    hyperparameters = tiny(num_workers=workers)
    loose, sharded = (
        list(
            islice(
                load_batches(
                    read_collection(channel, hyperparameters).train, hyperparameters, **ALONE
                ),
                6,
            )
        )
        for channel in (shapes, packed)
    )
    for one, other in zip(loose, sharded, strict=True):
        assert torch.equal(one.pixels, other.pixels)
        assert all(
            torch.equal(a.masks.whole(), b.masks.whole()) and torch.equal(a.boxes, b.boxes)
            for a, b in zip(one.targets, other.targets, strict=True)
        )


def test_shards_are_read_where_both_are_there(
    packed: TrainChannel, shapes: TrainChannel, tiny: Any
) -> None:
    shutil.copytree(shapes.images("train2017"), packed.images("train2017"))
    record = read_collection(packed, tiny()).train[0]
    assert record.file.parent.suffix == ".tar"
    assert record.read() == (shapes.images("train2017") / record.name).read_bytes()


def test_a_missing_shard_is_told_before_training(packed: TrainChannel, tiny: Any) -> None:
    (packed.shards("train2017") / "train2017-00000.tar").unlink()
    with pytest.raises(JobFailed, match=r"shards/train2017: .* the first is train2017-00000\.tar"):
        read_collection(packed, tiny())


def test_shards_of_other_annotations_are_told(packed: TrainChannel, tiny: Any) -> None:
    path = packed.annotations("train2017")
    path.write_text(
        path.read_text()
        .replace('"id": 1,', '"id": 999001,', 1)
        .replace('"image_id": 1,', '"image_id": 999001,')
    )
    with pytest.raises(JobFailed, match="1 of 20 pictures are missing"):
        read_collection(packed, tiny())


def test_a_shard_that_was_cut_off_while_training_is_a_broken_picture(
    packed: TrainChannel, tiny: Any
) -> None:
    hyperparameters = tiny(num_workers=0, max_broken_pictures=3)
    batches = load_batches(read_collection(packed, hyperparameters).train, hyperparameters, **ALONE)
    shard = packed.shards("train2017") / "train2017-00000.tar"
    with shard.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(JobFailed, match="the shard ends before the picture does"):
        next(batches)


def test_a_damaged_index_is_told_with_the_way_out(packed: TrainChannel, tiny: Any) -> None:
    (packed.shards("train2017") / "members.npy").write_bytes(b"x")
    with pytest.raises(JobFailed, match=r"index\.json: this index of shards cannot be read"):
        read_collection(packed, tiny())


def test_reading_by_shard_takes_every_picture_once(packed: TrainChannel, tiny: Any) -> None:
    hyperparameters = tiny(shuffle="shards", num_workers=0, batch_size_per_gpu=1)
    records = read_collection(packed, hyperparameters).train
    batches = islice(load_batches(records, hyperparameters, **ALONE), len(records))
    names = [name for batch in batches for name in batch.names]
    assert len(set(names)) == len(names) == len(records) > 10
