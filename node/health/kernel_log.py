"""What the NVIDIA driver told the kernel's log since the node booted."""

from __future__ import annotations

import re

from .check import Check, failed, ok, warning
from .command import run

READERS = (
    ("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat"),
    ("dmesg",),
)
"""The first keeps what has left the kernel's own buffer."""

FATAL = frozenset(
    # What Amazon's agent for EKS repairs a node for, v1.7.0:
    # https://github.com/aws/eks-node-monitoring-agent/blob/main/monitors/nvidia/dcgm/dcgm_policies.go
    # by https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    {46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120}
    | {136, 140, 142, 143, 151, 155, 156, 158}
)
"""Xid numbers that ask for a reset of the GPU or another machine; the others may be a program's."""

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9A-Fa-f:.]+)[^)]*\): (\d+)")


def check_kernel_log(*, timeout_s: float) -> Check:
    """Look for the driver's errors."""
    for reader in READERS:
        answer = run(reader, timeout_s=timeout_s)
        if answer.is_ok:
            return judge_xids(answer.text)
    return warning("xid", f"the kernel's log cannot be read: {answer.error or answer.code}")


def judge_xids(text: str) -> Check:
    """Judge a kernel log."""
    found = [(bus, int(number)) for bus, number in _XID.findall(text)]
    fatal = sorted({f"{number} on {bus}" for bus, number in found if number in FATAL})
    if fatal:
        return failed(
            "xid",
            f"the NVIDIA driver reported Xid {', '.join(fatal)}: the GPU needs a reset. Reboot the "
            "node, or replace it",
            len(found),
        )
    others = sorted({number for _, number in found})
    if others:
        return warning(
            "xid",
            f"the NVIDIA driver reported Xid {', '.join(map(str, others))}: often a program's "
            "fault, see the kernel's log",
            len(found),
        )
    return ok("xid", 0)
