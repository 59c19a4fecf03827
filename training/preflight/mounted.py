"""The file system of the channels is mounted on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.data.mounts import UNMOUNTED_ROOT
from training.preflight.finding import Finding


def find(data_source: str, data: Path) -> Iterator[Finding]:
    """Yield an error where the folder of the data is on a file system that is not mounted.

    Args:
        data_source: `s3`, `efs` or `fsx`.
        data: Folder of the `train` channel as planned.
    """
    if data_source == "s3" or not data.is_relative_to(UNMOUNTED_ROOT):
        return
    mount = UNMOUNTED_ROOT / data.relative_to(UNMOUNTED_ROOT).parts[0]
    if not mount.is_mount():
        yield Finding(
            "file-system-not-mounted",
            "error",
            f"{mount.name} is not mounted on this machine; mount it at {mount}, or with local AWS "
            'run: eval "$(python -m localaws env)"',
            data_source,
        )
