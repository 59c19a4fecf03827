"""How the workers of pytest-xdist share the tests.

Its own groups (`--dist loadgroup`, marks `xdist_group`) do not come about: 3.8 writes them into an
attribute from which pytest 9.2 reads no name any more. So its scheduler of scopes is told here what
a scope is.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    # Each has one that all its tests share, or addresses that only one test at a time may use.
    "tests/cluster/": "cluster",
    "tests/localaws/hosts/": "hosts",
    "tests/node/conductor/": "conductor",
    # Synths of the matrix, and what cfn-lint knows of a region.
    "tests/stacks/": "stacks",
    # podman with its image.
    "tests/docker/containers/": "podman",
    "tests/docker/registry/": "podman",
}
"""Folders whose files go to one worker, to the group's name."""

LONGEST = (
    "stacks",
    "podman",
    "cluster",
    "tests/training/test_launch.py",
    "conductor",
    "hosts",
    "tests/localaws/test_cdk.py",
    "tests/docs/test_guide.py",
    "tests/localaws/test_command.py",
    "tests/localaws/test_cdk_matrix.py",
    "tests/notebooks/test_runs.py",
    "tests/training/preflight/situations/test_jobs.py",
    "tests/training/maskrcnn/test_distributed.py",
    "tests/docker/entrypoint/test_training.py",
)
"""Groups that take half a minute and more. They begin first: what begins last must be short, since
the other workers wait for its end."""


class WholeFiles(LoadScopeScheduling):
    """A file, or all files of a group, goes to one worker: what they share is made once."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the group of a test: its folder's, or its file."""
    shared = (name for folder, name in TOGETHER.items() if nodeid.startswith(folder))
    return next(shared, nodeid.partition("::")[0])


def put_longest_first(items: list[pytest.Item]) -> None:
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        groups[group_of(item.nodeid)].append(item)
    order = {name: place for place, name in enumerate(LONGEST)}
    names = sorted(groups, key=lambda name: order.get(name, len(order)))
    items[:] = [item for name in names for item in groups[name]]
