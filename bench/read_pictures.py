"""Read all pictures of a set in the order of training, and print the seconds.

python -m bench.read_pictures SET
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.order import Passes
from training.maskrcnn.data.sampler import StreamSampler


def main(folder: Path) -> None:
    records = read_split(TrainChannel(folder), "train2017").records
    sampler = StreamSampler(
        Passes(pictures=len(records), seed=0), rank=0, size=1, batch_size=len(records)
    )
    draws = next(iter(sampler))
    begin = time.perf_counter()
    for draw in draws:
        records[draw.record].read()
    sys.stdout.write(f"{time.perf_counter() - begin}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
