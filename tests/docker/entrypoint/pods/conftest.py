"""Pods for a test, gone after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docker.entrypoint.pods.pods import Pods

MakePods = Callable[..., Pods]

_counter = iter(range(1_000_000))


@pytest.fixture
def make_pods(tmp_path: Path) -> Iterator[MakePods]:
    """Make a job with some workers; none of its pods runs yet."""
    made: list[Pods] = []

    def make(workers: int = 2, slots: int = 1, distribution: str = "mpi") -> Pods:
        prefix = f"mp{os.getpid()}x{next(_counter)}"
        pods = Pods(tmp_path, workers, prefix, slots, distribution)
        made.append(pods)
        return pods

    yield make
    for pods in made:
        pods.close()
