"""The file systems that a node mounts."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .check import Check, failed, ok, warning
from .command import run

MOUNT_INFO = Path("/proc/self/mountinfo")
WRITE_TEST = Path(__file__).with_name("write_test.py")

SLOW_S = 5.0
"""For 1 MiB there and back: a file system that answers takes milliseconds."""


@dataclass(frozen=True)
class Mount:
    """A file system that should be there."""

    name: str
    """`efs` or `fsx`."""
    path: str
    folder: str
    """Where a file may be written: the mount's own root, or a folder below it."""


def check_mount(mount: Mount, *, timeout_s: float, mount_info: Path = MOUNT_INFO) -> Check:
    """Look whether a file system is mounted, and write, read and delete a file on it."""
    kind = _mounted_kind(mount_info.read_text(encoding="utf-8").splitlines(), mount.path)
    if kind is None:
        return failed(
            mount.name,
            f"nothing is mounted at {mount.path}. See why: systemctl status mask-rcnn-* and the "
            "node's log; or replace the node",
        )
    # -I: whatever lies about in the folder is no module.
    tried = run([sys.executable, "-I", str(WRITE_TEST), mount.folder], timeout_s=timeout_s)
    if tried.is_late:
        return failed(
            mount.name,
            f"{mount.path} ({kind}) did not take and give back a file within {timeout_s:g} s: it "
            "hangs. Is its server there, and its port open to the node?",
        )
    if not tried.is_ok:
        return failed(
            mount.name, f"{mount.folder} ({kind}) takes no file: {tried.error or tried.code}"
        )
    seconds = float(tried.text)
    value = f"{kind} {seconds * 1000:.0f} ms"
    if seconds > SLOW_S:
        return warning(
            mount.name, f"1 MiB there and back took {seconds:.1f} s (usual: below 1 s)", value
        )
    return ok(mount.name, value)


def _mounted_kind(lines: Sequence[str], path: str) -> str | None:
    """Return the type of the file system at a mount point; None where there is none.

    The fifth field is the mount point, the type comes after ` - `: proc(5).
    """
    kind = None
    for line in lines:
        before, _, after = line.partition(" - ")
        if _unescaped(before.split(" ")[4]) == path.rstrip("/"):
            kind = after.split(" ")[0]  # The last one covers those before.
    return kind


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
