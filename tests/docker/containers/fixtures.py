"""podman with a small image, once for all tests of a worker."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.containers.lite_image import Podman


@pytest.fixture(scope="session")
def podman_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Podman]:
    if os.geteuid() or shutil.which("podman") is None:
        pytest.skip("containers here take podman, and root to run it")
    made = Podman(tmp_path_factory.mktemp("podman"))
    try:
        made.configure()
        if complaint := made.build():
            pytest.skip(f"podman runs no container here: {complaint.strip()}")
        yield made
    finally:
        made.remove()


@pytest.fixture
def podman(podman_of_session: Podman) -> Iterator[Podman]:
    """podman for one test at a time: two with networks of their own would take one subnet."""
    with (Path(tempfile.gettempdir()) / "mask-rcnn-container-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield podman_of_session
