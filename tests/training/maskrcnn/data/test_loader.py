from __future__ import annotations

import subprocess
import sys
from collections import namedtuple
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data import loader
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches, plan_passes

ROOT = Path(__file__).parents[4]
ALONE = {"rank": 0, "size": 1, "local_size": 1, "position": 0}


def test_workers_load_the_batches_that_the_rank_itself_would(
    shapes: TrainChannel, tiny: Any
) -> None:
    records = read_collection(shapes, tiny()).train
    own, workers = (
        list(islice(load_batches(records, tiny(num_workers=number), **ALONE), 3))
        for number in (0, 2)
    )
    for one, other in zip(own, workers, strict=True):
        assert one.names == other.names
        assert torch.equal(one.pixels, other.pixels)
        for target, same in zip(one.targets, other.targets, strict=True):
            assert target.seed == same.seed
            assert torch.equal(target.boxes, same.boxes)
            assert torch.equal(target.labels, same.labels)
            assert torch.equal(target.masks.whole(), same.masks.whole())


def test_the_order_follows_from_the_hyperparameters(coco_set: Any, tiny: Any) -> None:
    channel = coco_set.write([], pictures=5)
    records = read_split(channel, "train2017").records
    plain = plan_passes(records, tiny(aspect_ratio_grouping=False, seed=3))
    assert (plain.pictures, plain.seed) == (5, 3)
    assert plain.aspects is plain.shards is plain.repeats is None
    full = plan_passes(records, tiny(shuffle="shards", repeat_threshold=0.1))
    assert full.aspects is not None
    assert full.aspects.tolist() == [2] * 5
    assert full.shards is not None
    assert full.shards.tolist() == [0] * 5
    assert full.repeats is not None
    assert full.repeats.tolist() == [1] * 5


def test_the_tensors_of_a_batch_are_all_pinned_and_all_moved(
    shapes: TrainChannel, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = next(load_batches(read_collection(shapes, tiny()).train, tiny(), **ALONE))
    pinned: list[int] = []
    monkeypatch.setattr(
        torch.Tensor, "pin_memory", lambda tensor: pinned.append(id(tensor)) or tensor
    )
    batch.pin_memory()
    assert len(set(pinned)) == 1 + 5 * len(batch.targets)
    moved = batch.to(torch.device("meta"))
    tensors = [moved.pixels]
    for target in moved.targets:
        masks = target.masks
        tensors += [target.boxes, target.labels, target.crowds, masks.pixels, masks.frames]
    assert {tensor.device.type for tensor in tensors} == {"meta"}


@pytest.mark.parametrize("num_workers", [0, 1])
def test_what_is_wrong_with_the_data_is_said_in_one_line(
    coco_set: Any, annotation: Any, tiny: Any, num_workers: int
) -> None:
    channel = coco_set.write([annotation()], pictures=1)
    file = channel.images("train2017") / "1.jpg"
    file.write_bytes(b"oops")
    given = tiny(data_val="train2017", num_workers=num_workers, max_broken_pictures=2)
    batches: Any = load_batches(read_collection(channel, given).train, given, **ALONE)
    with pytest.raises(JobFailed) as failed:
        next(batches)
    if num_workers:
        # The error's traceback keeps the loader alive.
        batches._shutdown_workers()
    assert str(failed.value) == (
        "more than max_broken_pictures 2 pictures in a row cannot be used: "
        f"image 1 ({file}): cannot identify the file as a picture"
    )


FAILS = """
import sys
from pathlib import Path
from training.layout import TrainChannel
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.hyperparameters import read_hyperparameters

text = Path(sys.argv[2]).read_text()
hyperparameters = read_hyperparameters(__import__("json").loads(text), source="test")
records = read_collection(TrainChannel(Path(sys.argv[1])), hyperparameters).train
batches = load_batches(records, hyperparameters, rank=0, size=1, local_size=1, position=0)
next(batches)
raise RuntimeError("a bug of ours")
"""


def test_a_rank_that_fails_does_not_wait_for_its_workers(
    shapes: TrainChannel, tiny: Any, tmp_path: Path
) -> None:
    file = tmp_path / "hyperparameters.json"
    file.write_text(tiny(num_workers=2).model_dump_json(exclude={"lr_schedule"}))
    failed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FAILS, str(shapes.root), str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == "RuntimeError: a bug of ours"


def test_too_little_shared_memory_is_told_before_a_worker_dies_of_it(
    shapes: TrainChannel, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(loader.shutil, "disk_usage", lambda _: usage(2**26, 0, 2**26))
    records = read_collection(shapes, tiny()).train
    large = tiny(num_workers=4, image_short_sides=800, image_max_side=1333)
    with pytest.raises(JobFailed, match=r"/dev/shm: 64 MiB free, but 8 ranks .* 1301 MiB"):
        load_batches(records, large, **{**ALONE, "local_size": 8})
    load_batches(records, tiny(num_workers=0), **ALONE)
