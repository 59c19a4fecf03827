"""Batches of one rank, loaded ahead by worker processes."""

from __future__ import annotations

import atexit
import shutil
import signal
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader

from training.errors import JobFailed
from training.maskrcnn.data.batch import Batch, collate
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.order import Passes
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.repeats import repeat_factors
from training.maskrcnn.data.sampler import StreamSampler
from training.maskrcnn.guard import follow_rank
from training.maskrcnn.hyperparameters import Hyperparameters

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (where workers hand over their tensors)
PREFETCHED_BATCHES = 2
"""Of each worker."""
BYTES_OF_PIXEL = 5
"""Of a picture, for the estimate of its size: 3 colours, and crops of masks, which take 0.4 bytes
for each pixel of COCO's pictures on average and hardly ever more than 2."""
MIB = 2**20


def load_batches(
    records: Records,
    hyperparameters: Hyperparameters,
    *,
    rank: int,
    size: int,
    local_size: int,
    position: int,
    pin_memory: bool = False,
    shared_memory: Path = SHARED_MEMORY,
) -> Iterator[Batch]:
    """Return the endless batches of one rank, from a position of the stream on.

    Args:
        local_size: Ranks of this host.
        position: Pictures that all ranks together have taken.
        pin_memory: For batches that are copied to a GPU.

    Raises:
        JobFailed: The workers' shared memory is too small.
    """
    workers = hyperparameters.num_workers
    if workers:
        _check_shared_memory(hyperparameters, local_size, shared_memory)
    sampler = StreamSampler(
        plan_passes(records, hyperparameters),
        rank=rank,
        size=size,
        batch_size=hyperparameters.batch_size_per_gpu,
        position=position,
    )
    batches = iter(
        DataLoader(
            TrainingPictures(records, hyperparameters),
            batch_sampler=sampler,
            num_workers=workers,
            collate_fn=partial(collate, multiple=hyperparameters.padding_multiple),
            pin_memory=pin_memory,
            prefetch_factor=PREFETCHED_BATCHES if workers else None,
            worker_init_fn=_belong_to_rank,
            # Forked workers share the arrays of the records, whether they are mapped or not.
            multiprocessing_context="fork" if workers else None,
        )
    )
    if workers:
        atexit.register(_end_workers, weakref.ref(batches))
    return batches


def _end_workers(batches: weakref.ref[Any]) -> None:
    """Tell workers to leave. A rank that ends with an error that nobody caught still has them, and
    would wait for them without end: they heed no SIGTERM."""
    alive = batches()
    if alive is not None:
        alive._shutdown_workers()


def plan_passes(records: Records, hyperparameters: Hyperparameters) -> Passes:
    """Return the order of the pictures."""
    threshold = hyperparameters.repeat_threshold
    return Passes(
        pictures=len(records),
        seed=hyperparameters.seed,
        shards=records.groups() if hyperparameters.shuffle == "shards" else None,
        aspects=records.aspects() if hyperparameters.aspect_ratio_grouping else None,
        repeats=None if threshold is None else repeat_factors(records, threshold),
    )


def _belong_to_rank(_: int) -> None:
    """Leave SIGTERM and Ctrl-C to the rank: it still needs its workers to stop in good order."""
    follow_rank()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_shared_memory(
    hyperparameters: Hyperparameters, local_size: int, shared_memory: Path
) -> None:
    """A worker that finds /dev/shm full dies of a bus error, which says nothing of the cause."""
    pixels = max(hyperparameters.image_short_sides) * hyperparameters.image_max_side
    batch = hyperparameters.batch_size_per_gpu * pixels * BYTES_OF_PIXEL
    needed = batch * PREFETCHED_BATCHES * hyperparameters.num_workers * local_size
    free = shutil.disk_usage(shared_memory).free
    if free < needed:
        raise JobFailed(
            f"{shared_memory}: {free // MIB} MiB free, but {local_size} ranks with num_workers "
            f"{hyperparameters.num_workers} and batch_size_per_gpu "
            f"{hyperparameters.batch_size_per_gpu} may need {needed // MIB} MiB. Make it larger "
            "(docker run --shm-size; resources.shm of the EKS charts), or lower num_workers (0 "
            "needs none)"
        )
