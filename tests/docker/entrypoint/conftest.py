"""Makes the entry point importable as the image has it, and hosts to run it on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Last: the folder has a `horovod` too.
sys.path.append(str(ROOT / "docker"))

from tests.docker.entrypoint.cluster import Cluster  # noqa: E402

MakeCluster = Callable[..., Cluster]

_counter = iter(range(1_000_000))


@pytest.fixture
def make_cluster(tmp_path: Path) -> Iterator[MakeCluster]:
    """Make hosts `algo-1`, `algo-2` and so on, whose image has an adapter of the test's own."""
    import os

    made: list[Cluster] = []

    def make(count: int, adapter: Path | str, algorithm: str = "horovod") -> Cluster:
        hosts = [f"algo-{number}" for number in range(1, count + 1)]
        cluster = Cluster(tmp_path, hosts, f"mr{os.getpid()}x{next(_counter)}")
        made.append(cluster)
        cluster.install(algorithm, adapter)
        cluster.connect()
        return cluster

    yield make
    for cluster in made:
        cluster.close()
