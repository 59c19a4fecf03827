"""One rank with its workers: read every annotation, say so, and wait to be measured.

python -m bench.hold_annotations ANNOTATIONS TABLES WORKERS
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from training.maskrcnn.data.coco import open_table
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles


def main(annotations: Path, tables: Path, workers: int) -> None:
    table = open_table(annotations, beside=tables)
    records = Records.of(table, LooseFiles(annotations.parent))
    # As the loader's workers are made.
    children = [_fork(records, worker, workers) for worker in range(workers)]
    if not workers:
        _touch(records, 0, 1)
    for reading, _ in children:
        os.read(reading, 1)
    sys.stdout.write(" ".join(map(str, [os.getpid(), *(child for _, child in children)])) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def _fork(records: Records, worker: int, workers: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return reading, child
    _touch(records, worker, workers)
    os.write(writing, b"x")
    # Until the rank ends.
    sys.stdin.read()
    os._exit(0)


def _touch(records: Records, worker: int, workers: int) -> None:
    """Read all that training reads, of every so many pictures; all workers together of all."""
    random = np.random.default_rng(worker)
    for row in random.permutation(np.arange(worker, len(records), max(workers, 1))):
        record = records[int(row)]
        record.boxes.sum()
        record.outlines()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
