"""Batches of one rank, loaded ahead by worker processes."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

from torch.utils.data import DataLoader

from training.errors import JobFailed
from training.maskrcnn.data.batch import Batch, collate
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.sampler import StreamSampler
from training.maskrcnn.hyperparameters import Hyperparameters

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (where workers hand over their tensors)
PREFETCHED_BATCHES = 2
"""Of each worker."""
TYPICAL_OBJECTS = 20
"""Masks of a picture, for the estimate of its size; COCO has 7 on average."""
MIB = 2**20


def load_batches(
    records: Records,
    hyperparameters: Hyperparameters,
    *,
    rank: int,
    size: int,
    local_size: int,
    position: int,
    shared_memory: Path = SHARED_MEMORY,
) -> Iterator[Batch]:
    """Return the endless batches of one rank, from a position of the stream on.

    Raises:
        JobFailed: The workers' shared memory is too small.
    """
    workers = hyperparameters.num_workers
    if workers:
        _check_shared_memory(hyperparameters, local_size, shared_memory)
    sampler = StreamSampler(
        pictures=len(records),
        seed=hyperparameters.seed,
        rank=rank,
        size=size,
        batch_size=hyperparameters.batch_size_per_gpu,
        position=position,
        shards=records.groups() if hyperparameters.shuffle == "shards" else None,
    )
    return iter(
        DataLoader(
            TrainingPictures(records, hyperparameters),
            batch_sampler=sampler,
            num_workers=workers,
            collate_fn=collate,
            prefetch_factor=PREFETCHED_BATCHES if workers else None,
            worker_init_fn=_ignore_signals,
            # Forked workers share the arrays of the records, whether they are mapped or not.
            multiprocessing_context="fork" if workers else None,
        )
    )


def _ignore_signals(_: int) -> None:
    """Leave SIGTERM and Ctrl-C to the rank: it still needs its workers to stop in good order."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_shared_memory(
    hyperparameters: Hyperparameters, local_size: int, shared_memory: Path
) -> None:
    """A worker that finds /dev/shm full dies of a bus error, which says nothing of the cause."""
    pixels = max(hyperparameters.image_short_sides) * hyperparameters.image_max_side
    batch = hyperparameters.batch_size_per_gpu * pixels * (3 + TYPICAL_OBJECTS)
    needed = batch * PREFETCHED_BATCHES * hyperparameters.num_workers * local_size
    free = shutil.disk_usage(shared_memory).free
    if free < needed:
        raise JobFailed(
            f"{shared_memory}: {free // MIB} MiB free, but {local_size} ranks with num_workers "
            f"{hyperparameters.num_workers} and batch_size_per_gpu "
            f"{hyperparameters.batch_size_per_gpu} may need {needed // MIB} MiB. Make it larger "
            "(docker run --shm-size, a memory-backed emptyDir), or lower num_workers (0 needs none)"
        )
