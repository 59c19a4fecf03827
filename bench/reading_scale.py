"""A file of COCO's size through check, index and sampler, and how quickly its table opens.

Prints one JSON object: python -m bench.reading_scale ANNOTATIONS TABLES
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from training.data.check import examine
from training.data.pack.index import MEMBER, ShardFile, ShardIndex, write_index
from training.data.splits import Split
from training.maskrcnn.data.coco import open_table
from training.maskrcnn.data.loader import plan_passes
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.sampler import StreamSampler
from training.maskrcnn.data.store import LooseFiles, Shards
from training.maskrcnn.hyperparameters import read_hyperparameters

IN_A_SHARD = 1_600
"""Of COCO's pictures in 256 MiB."""


def main(annotations: Path, tables: Path) -> None:
    taken: dict[str, float] = {}
    with _timed(taken, "check"):
        nowhere = annotations.parent / "no-pictures"
        split = Split("train2017", annotations, (nowhere,), is_channel=True)
        health = examine([split], decode=False)
    with _timed(taken, "table"):
        table = open_table(annotations, beside=tables)
    with TemporaryDirectory() as folder, _timed(taken, "shard index"):
        index = _index(Path(folder), table.image_ids)
        Shards(index).missing(table.image_ids, table.all_names())
    with _timed(taken, "sampler"):
        _draw_all(Records.of(table, LooseFiles(nowhere)).with_objects())
    counts = {"images": health.splits[0].images, "annotations": health.splits[0].annotations}
    result = {"cpu_s": taken, "total_cpu_s": sum(taken.values()), **counts}
    sys.stdout.write(json.dumps(result) + "\n")


@contextmanager
def _timed(taken: dict[str, float], name: str) -> Iterator[None]:
    """Count the processor's seconds of all threads: others may use the machine as well."""
    begin = time.process_time()
    yield
    taken[name] = round(time.process_time() - begin, 2)


def _index(folder: Path, image_ids: np.ndarray) -> ShardIndex:  # type: ignore[type-arg]
    members = np.zeros(len(image_ids), MEMBER)
    members["image_id"] = image_ids
    members["shard"] = np.arange(len(image_ids)) // IN_A_SHARD
    shards = [
        ShardFile(f"train2017-{number:05d}.tar", 0, "")
        for number in range(int(members["shard"].max()) + 1)
    ]
    write_index(folder, shards, members, {"identity": "", "split": "train2017"})
    return ShardIndex.open(folder)


def _draw_all(records: Records) -> None:
    """Draw one pass over the data by pictures, and one by shards with rare categories repeated."""
    for changes in ({}, {"shuffle": "shards", "repeat_threshold": 0.001}):
        passes = plan_passes(records, read_hyperparameters(changes, source="bench"))
        sampler = StreamSampler(passes, rank=0, size=8, batch_size=4)
        for _, _ in zip(range(len(records) // 32), sampler, strict=False):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
