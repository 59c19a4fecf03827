"""What the machine must bring along: Python, Node.js, space. Each check returns its complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

PYTHON = (3, 11)
NODE_MAJOR = 20
INSTALL_BYTES = 15 * 1024**3
"""PyTorch and the CUDA libraries it insists on take 5.5 GB installed and as much while they are
downloaded and kept in pip's cache; the rest is for Horovod's build and a first job."""
RUN_BYTES = 1024**3
"""For a set-up that only has small things left to do."""


def check_python(version: tuple[int, int]) -> str | None:
    if version == PYTHON:
        return None
    wanted = ".".join(map(str, PYTHON))
    return (
        f"Python {version[0]}.{version[1]} runs this, but Python {wanted} is wanted, the version "
        f"that every pin was chosen for. Install it and name it: make PYTHON=python{wanted} ..."
    )


def check_node() -> str | None:
    """Return what is wrong with Node.js and npm, for the CDK CLI."""
    advice = (
        f"The CDK CLI needs Node.js {NODE_MAJOR} or newer with npm. Debian 12's own package is too "
        "old; see https://nodejs.org/en/download."
    )
    node = shutil.which("node")
    if not node:
        return f"node: not found on PATH. {advice}"
    try:
        said = subprocess.run(
            [node, "--version"],
            capture_output=True, text=True, check=True, timeout=30,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return f"node --version: failed ({error}). {advice}"
    major = re.match(r"v(\d+)\.", said)
    if not major or int(major[1]) < NODE_MAJOR:
        return f"node is version {said or 'unknown'}. {advice}"
    if not shutil.which("npm"):
        return f"npm: not found on PATH, though node {said} is. {advice}"
    return None


def check_disk(folders: Iterable[Path], need_bytes: int) -> list[str]:
    """Return a complaint for each file system that lacks space, named by the first folder on it."""
    complaints: list[str] = []
    seen: set[int] = set()
    for folder in folders:
        there = _nearest_existing(folder)
        device = there.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        free = shutil.disk_usage(there).free
        if free < need_bytes:
            complaints.append(
                f"{folder}: {_gib(free)} GiB free, {_gib(need_bytes)} GiB needed. Make room, or "
                "move the folder: XDG_CACHE_HOME says where caches go."
            )
    return complaints


def _nearest_existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _gib(count: int) -> str:
    return f"{count / 1024**3:.1f}"
