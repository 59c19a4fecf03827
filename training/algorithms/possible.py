"""Refuses hyperparameters that what joins the processes cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from training import algorithms
from training.errors import UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel


def check_possible(
    algorithm: str,
    hyperparameters: BaseModel,
    *,
    distribution: algorithms.Distribution,
    gpus: int,
) -> None:
    """Refuse what no process of the job could do.

    Args:
        gpus: Of each machine; 0 is a job on CPUs.

    Raises:
        UsageError: One line for each: name, value, and what can be had.
    """
    lines = algorithms.load(algorithm).impossible(
        hyperparameters, distribution=distribution, gpus=gpus
    )
    if lines:
        raise UsageError("\n".join(f"hyperparameters.{line}" for line in lines))
