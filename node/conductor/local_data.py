"""Copies a job's data from S3 to this host's own disk, and checks that all of it came.

`python -m training.data stage` leaves a manifest beside the data, written last.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from node import json_file
from node.aws_cli import AwsError, output_of
from node.errors import NodeError

MANIFEST = "manifest.json"
_SPARE_BYTES = 2 << 30
"""Left free beside the data."""
COPY_S = 6 * 3600


def bring_data(source: str, folder: Path, say: Callable[[str], None]) -> None:
    """Copy what is not here yet.

    Args:
        source: `s3://bucket/key`.
        folder: Where it goes.
        say: Told what is done.

    Raises:
        NodeError: There is no whole data set, no room, or not all of it came.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".copying").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _bring(source.rstrip("/"), folder, say)
    except OSError as error:
        raise NodeError(f"{folder}: cannot be written to ({error.strerror})") from error


def _bring(source: str, folder: Path, say: Callable[[str], None]) -> None:
    manifest = _s3("cp", f"{source}/{MANIFEST}", "-", 120)
    files = _files(manifest, f"{source}/{MANIFEST}")
    mark = folder / ".whole.json"
    digest = hashlib.sha256(manifest).hexdigest()
    wrong = _wrong(files, folder)
    if not wrong and _read(mark) == digest:
        say(f"{folder} has the data of {source} already: {len(files)} files")
        return
    _check_room(files, wrong, folder)
    say(f"copies {len(wrong)} of {len(files)} files from {source} to {folder}")
    _s3("sync", source, str(folder), COPY_S)
    wrong = _wrong(files, folder)
    if wrong:
        raise NodeError(
            f"{folder}: {len(wrong)} of {len(files)} files are missing or of another size after "
            f"the copy from {source}, the first is {wrong[0]}: the data there was changed after it "
            "was staged. Stage it again: python -m training.data stage"
        )
    json_file.write_text(mark, digest)
    total = sum(files.values())
    say(f"copied: {len(files)} files, {total} bytes, as the manifest says")


def _files(manifest: bytes, address: str) -> dict[str, int]:
    try:
        document: Any = json.loads(manifest)
        files = {str(entry["path"]): int(entry["size"]) for entry in document["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise NodeError(f"{address}: is no manifest of this program ({error!r})") from error
    if not files or any(path.startswith("/") or ".." in path.split("/") for path in files):
        raise NodeError(f"{address}: is no manifest of this program: its paths lead elsewhere")
    return files


def _wrong(files: dict[str, int], folder: Path) -> list[str]:
    """Return the files that are missing or of another size."""
    wrong = []
    for path, size in files.items():
        try:
            is_right = (folder / path).stat().st_size == size
        except OSError:
            is_right = False
        if not is_right:
            wrong.append(path)
    return wrong


def _check_room(files: dict[str, int], wrong: list[str], folder: Path) -> None:
    needed = sum(files[path] for path in wrong) + _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise NodeError(
            f"{folder}: {needed / 2**30:.1f} GiB are needed for the data, {free / 2**30:.1f} GiB "
            "are free: choose an instance type with a local disk, a larger volume "
            "(cluster_volume_gib), or data_source efs or fsx"
        )


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def _s3(action: str, source: str, target: str, timeout_s: float) -> bytes:
    try:
        return output_of("s3", action, "--only-show-errors", source, target, timeout_s=timeout_s)
    except AwsError as error:
        raise NodeError(
            f"{source}: {error}. Is the data staged? python -m training.data stage"
        ) from error
