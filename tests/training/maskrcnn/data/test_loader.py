from __future__ import annotations

from collections import namedtuple
from itertools import islice
from typing import Any

import pytest
import torch

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data import loader
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches

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
        assert [t.seed for t in one.targets] == [t.seed for t in other.targets]


def test_too_little_shared_memory_is_told_before_a_worker_dies_of_it(
    shapes: TrainChannel, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(loader.shutil, "disk_usage", lambda _: usage(2**26, 0, 2**26))
    records = read_collection(shapes, tiny()).train
    large = tiny(num_workers=4, image_short_sides=800, image_max_side=1333)
    with pytest.raises(JobFailed, match=r"/dev/shm: 64 MiB free, but 8 ranks .* 5988 MiB"):
        load_batches(records, large, **{**ALONE, "local_size": 8})
    load_batches(records, tiny(num_workers=0), **ALONE)
