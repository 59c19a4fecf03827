"""Where a file system is mounted on this machine, told from what the machine says about itself."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MOUNTS_VARIABLE = "MASK_RCNN_MOUNTS"
"""A folder that has each file system as a folder of its id; local AWS sets it."""

UNMOUNTED_ROOT = Path("/mnt")
"""Where a file system is expected that is not mounted here; a finding says so."""

EFS_STATE = Path("/var/run/efs")
"""The EFS mount helper keeps one file a mount here, `<id>.<mount point with dots>.<port>`:
https://github.com/aws/efs-utils (`get_mount_specific_filename`)."""

_ID = re.compile(r"fs-[0-9a-f]+")
_TYPES = frozenset({"nfs", "nfs4", "lustre", "efs"})
_LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True)
class _Mount:
    """One line of /proc/mounts: `host` and `export` are the two sides of its source."""

    host: str
    export: str
    point: Path
    type: str
    options: Mapping[str, str]


def find_mount(
    file_system_id: str,
    *,
    environ: Mapping[str, str],
    proc_mounts: Path = Path("/proc/mounts"),
    mount_info: Path = Path("/proc/self/mountinfo"),
    efs_state: Path = EFS_STATE,
    aliases: Collection[str] = (),
) -> Path | None:
    """Return the folder that holds the root of a file system, or None where it is not mounted.

    Args:
        file_system_id: `fs-…`, of EFS or FSx.
        environ: The environment, for `MASK_RCNN_MOUNTS`.
        proc_mounts: The kernel's list of mounts.
        mount_info: The same in more detail: which of them show a folder alone (`mount --bind`, a
            container's volume), whose source is the same.
        efs_state: Where the EFS mount helper keeps its state. It mounts through a tunnel, from
            127.0.0.1, so that the kernel's list does not name the file system.
        aliases: Other names that the source may go by: IP addresses of the file system, or the
            mount name of a Lustre one (`fsx_mount_name`), which is unlike any other, save that of
            SCRATCH_1, always `fsx`.
    """
    if not _ID.fullmatch(file_system_id):
        return None
    root = environ.get(MOUNTS_VARIABLE)
    # os.path, since pathlib raises where a parent may not be read.
    if root and os.path.isdir(folder := Path(root) / file_system_id):  # noqa: PTH112
        return folder
    tunnel_ports = _tunnel_ports(file_system_id, efs_state)
    partial = _partial_points(mount_info)
    for mount in _read_mounts(proc_mounts):
        if mount.point not in partial and _is_root_of(mount, file_system_id, aliases, tunnel_ports):
            return mount.point
    return None


def find_folder(place: str, *, environ: Mapping[str, str]) -> Path | None:
    """Return the folder of `<file system>:<path>`; None where this machine has none of it.

    Args:
        place: As jobs have their log folders; a path on Lustre may begin with the mount name.
        environ: The environment, for `MASK_RCNN_MOUNTS`.
    """
    file_system_id, _, path = place.partition(":")
    first, _, rest = path.strip("/").partition("/")
    root = find_mount(file_system_id, environ=environ, aliases=(first,))
    if root is None:
        return None
    # The mount name stands for the mounted root, which is nobody's folder itself.
    candidates = (root / first / rest, root / rest) if rest else (root / first,)
    # os.path, since pathlib raises where a parent may not be read, or a name is too long.
    return next((each for each in candidates if os.path.isdir(each)), None)  # noqa: PTH112


def _is_root_of(
    mount: _Mount, file_system_id: str, aliases: Collection[str], tunnel_ports: Collection[str]
) -> bool:
    host = mount.host.split("@")[0]
    if mount.type == "lustre":
        # The part after the colon is the file system's mount name; a folder of it goes on after.
        name = mount.export.strip("/")
        if "/" in name or _names_another(host, file_system_id):
            return False
        return _names(host, file_system_id) or bool({host, name} & {*aliases})
    if mount.export not in {"/", ""}:
        return False
    if host in _LOCAL_HOSTS:
        return mount.options.get("port") in tunnel_ports
    return _names(host, file_system_id) or host in aliases


def _names(host: str, file_system_id: str) -> bool:
    """Return whether a host is the file system: `fs-….efs.…`, `<zone>.fs-….efs.…` or bare."""
    return file_system_id in host.split(".")


def _names_another(host: str, file_system_id: str) -> bool:
    return any(_ID.fullmatch(label) and label != file_system_id for label in host.split("."))


def _tunnel_ports(file_system_id: str, efs_state: Path) -> frozenset[str]:
    try:
        names = [path.name for path in efs_state.iterdir()]
    except OSError:
        return frozenset()
    return frozenset(
        name.rsplit(".", 1)[1]
        for name in names
        if name.startswith(f"{file_system_id}.") and name.rsplit(".", 1)[1].isdecimal()
    )


def _partial_points(mount_info: Path) -> frozenset[Path]:
    """Return where a folder of a file system is mounted, and not its root.

    https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
    """
    roots = {columns[4]: columns[3] for columns in _read_lines(mount_info) if len(columns) > 4}
    return frozenset(Path(_unescape(point)) for point, root in roots.items() if root != "/")


def _read_lines(list_of_mounts: Path) -> Iterator[list[str]]:
    """Yield the columns of each line; nothing where the list cannot be read."""
    try:
        text = list_of_mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    # Not splitlines(), which parts at characters that a mount point may have.
    for line in text.split("\n"):
        yield line.split(" ")


def _read_mounts(proc_mounts: Path) -> Iterator[_Mount]:
    lines = [columns for columns in _read_lines(proc_mounts) if len(columns) > 3]
    # Of several mounts at one point, the last hides the others.
    for columns in {columns[1]: columns for columns in lines}.values():
        if columns[2] not in _TYPES:
            continue
        source, point = _unescape(columns[0]), Path(_unescape(columns[1]))
        host, _, export = source.rpartition(":")
        if not host:  # A bare id, as `mount -t efs fs-… …` shows it.
            host, export = source, "/"
        options = dict(option.partition("=")[::2] for option in columns[3].split(","))
        yield _Mount(host, export, point, columns[2], options)


def _unescape(text: str) -> str:
    r"""Undo the kernel's octal escapes: a space is written `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
