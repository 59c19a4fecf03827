"""Whoever writes the shards: threads for tar files, processes for TFRecords.

A tar file is copying, which threads do side by side. A TFRecord is drawing and compressing of
masks, in Python: it takes a process for each core. They read the annotations from a table that is
mapped, so that none has a copy.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from pathlib import Path

from training.data.pack.plan import Member, Plan
from training.data.pack.shard import ShardFormat, Written, write_shard
from training.data.pack.target import Kind
from training.errors import JobFailed

Job = tuple[Path, Sequence[Member]]
"""Where a shard goes, and what is in it."""

_PR_SET_PDEATHSIG = 1


def make_format(kind: Kind, plan: Plan) -> ShardFormat:
    """Return what turns the plan's pictures into samples, for this process."""
    if kind is Kind.TFRECORD:
        return _make_examples(plan.split.annotations, plan.folder)
    from training.data.pack.tar import WebDataset

    return WebDataset(plan.folder, plan.document)


def _make_examples(annotations: Path, folder: Path) -> ShardFormat:
    from training.data.pack.coco_example import CocoExamples
    from training.maskrcnn.data.coco import open_table

    return CocoExamples(folder, open_table(annotations))


def write_shards(kind: Kind, plan: Plan, jobs: Sequence[Job], workers: int) -> Iterator[Written]:
    """Write shards side by side and yield each when it has its name.

    Where one fails, those that are being written are finished and yielded before it is raised.

    Raises:
        JobFailed: A picture changed.
        OSError: Something cannot be read or written.
    """
    if not jobs:
        return
    failed: BaseException | None = None
    with _executor(kind, plan, min(workers, len(jobs))) as (executor, write):
        futures = [executor.submit(write, *job) for job in jobs]
        for future in as_completed(futures):
            if future.cancelled():
                continue
            if (error := future.exception()) is None:
                yield future.result()
                continue
            failed = failed or error
            for other in futures:
                other.cancel()
    if isinstance(failed, BrokenExecutor):
        raise JobFailed(
            "a process that writes shards was ended, perhaps since the memory was full. What is "
            "written stays: run this again, with fewer --jobs"
        ) from failed
    if failed is not None:
        raise failed


@contextmanager
def _executor(
    kind: Kind, plan: Plan, workers: int
) -> Iterator[tuple[Executor, Callable[[Path, Sequence[Member]], Written]]]:
    executor: Executor
    if kind is Kind.TFRECORD and workers > 1:
        # Made here once: the processes then find it, and map it.
        _make_examples(plan.split.annotations, plan.folder)
        executor = ProcessPoolExecutor(
            workers,
            multiprocessing.get_context("spawn"),
            _begin_process,
            (os.getpid(), plan.split.annotations, plan.folder),
        )
        write = _write_in_process
    else:
        form = make_format(kind, plan)
        executor = ThreadPoolExecutor(workers)

        def write(path: Path, members: Sequence[Member]) -> Written:
            return write_shard(path, members, form)

    try:
        yield executor, write
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


_form: ShardFormat
"""Of a process that writes shards."""


def _begin_process(parent: int, annotations: Path, folder: Path) -> None:
    """Make a process ready; it ends with the one that started it, however that ends."""
    global _form  # noqa: PLW0603 (what a process pool's initializer is for)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    # Ctrl-C reaches all processes of a terminal: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _form = _make_examples(annotations, folder)


def _write_in_process(path: Path, members: Sequence[Member]) -> Written:
    return write_shard(path, members, _form)
