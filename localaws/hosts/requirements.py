"""What this machine must have, so that hosts can run on it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

INIT = Path("/lib/systemd/systemd")

AWS_CLI = Path(sys.prefix) / "bin/aws"
"""What nodes have from their AMI: theirs is this machine's."""

_PROGRAMS = ("dbus-daemon", "ip", "mount", "nsenter", "unshare", "systemctl")


def missing() -> str | None:
    """Return what is missing, as a sentence that says what to do; None where all is there."""
    if os.geteuid() != 0:
        return "hosts are made of namespaces and mounts, which need root: run as root"
    lacking = [name for name in _PROGRAMS if shutil.which(name) is None]
    if not INIT.exists():
        lacking.append(str(INIT))
    if lacking:
        return (
            f"hosts need {', '.join(lacking)}: install Debian's packages systemd, dbus, iproute2, "
            "util-linux and mount"
        )
    if not AWS_CLI.exists():
        return f"hosts need AWS's command line, {AWS_CLI}: pip install -r requirements-dev.txt"
    if control_groups() is None:
        return "hosts need control groups of version 2 (a mount of type cgroup2), and none is here"
    return None


def control_groups() -> Path | None:
    """Return where control groups of version 2 are mounted."""
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(place)
    return None
