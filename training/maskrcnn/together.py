"""Work whose failure all ranks must see: one that raises alone leaves the others waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from training.errors import JobFailed, TrainingError
from training.maskrcnn.engines.engine import Engine

T = TypeVar("T")


def on_rank_0(engine: Engine, work: Callable[[], T]) -> T:
    """Do work on rank 0 and return its result on all ranks.

    Raises:
        JobFailed: It failed; raised on all ranks.
    """
    result: T | None = None
    problem = None
    if engine.rank == 0:
        try:
            result = work()
        except (TrainingError, OSError) as error:
            problem = str(error)
    result, problem = engine.broadcast((result, problem))
    if problem is not None:
        raise JobFailed(problem)
    return result  # type: ignore[return-value]


def on_all_ranks(engine: Engine, work: Callable[[], T]) -> T:
    """Do work on every rank and return this rank's result.

    Raises:
        JobFailed: It failed on some rank; raised on all ranks, with the first message.
    """
    result: T | None = None
    problem = None
    try:
        result = work()
    except (TrainingError, OSError) as error:
        problem = str(error)
    raise_together(engine, problem)
    return result  # type: ignore[return-value]


def raise_together(engine: Engine, problem: str | None) -> None:
    """Raise JobFailed on all ranks, with the first problem, if any rank has one."""
    problems = engine.broadcast([p for p in engine.gather(problem) if p is not None])
    if problems:
        raise JobFailed(problems[0])


def is_any(engine: Engine, flag: bool) -> bool:
    """Tell whether the flag is set on any rank."""
    return bool(engine.sum(torch.tensor([float(flag)], device=engine.device)) > 0)
