"""Waiting for hosts, and what they left."""

from __future__ import annotations

from tests.docker.entrypoint.cluster import Cluster, wait_until
from tests.docker.entrypoint.container import HostProcess

TWO_EACH = {"MASK_RCNN_PROCESSES_PER_HOST": "2"}


def codes(hosts: list[HostProcess], timeout_s: float = 40) -> list[int]:
    return [host.wait(timeout_s) for host in hosts]


def wait_for_ranks(cluster: Cluster, count: int) -> None:
    """Wait until so many ranks have said that they run."""

    def said() -> int:
        logs = [path.read_text() for path in cluster.log.glob("rank-*.log")]
        return sum("runs on" in text for text in logs)

    wait_until(lambda: said() == count)


def failures(hosts: list[HostProcess]) -> list[str]:
    texts = [host.failure for host in hosts]
    assert None not in texts
    return [text for text in texts if text is not None]
