"""Elastic Fabric Adapters."""

from __future__ import annotations

from pathlib import Path

from .check import Check, failed, ok
from .command import run

DEVICES = Path("/sys/class/infiniband")
FI_INFO = "/opt/amazon/efa/bin/fi_info"
"""Of the EFA installer: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html"""


def check_fabric(expected: int, *, timeout_s: float, devices: Path = DEVICES) -> Check | None:
    """Count the adapters that are up, where there should be some.

    Args:
        expected: How many interfaces the cluster gives such a node.
        timeout_s: For libfabric's answer.
        devices: Of the kernel.
    """
    if expected == 0:
        return None
    found = sorted(device for device in devices.glob("*") if _is_efa(device))
    up = [device for device in found if _is_up(device)]
    if len(up) < expected:
        down = ", ".join(device.name for device in found if device not in up)
        return failed(
            "efa",
            f"{len(up)} of {expected} adapters are up{f' (down: {down})' if down else ''}. Is the "
            "driver of EFA in the machine image? Replace the node",
            len(up),
        )
    if Path(FI_INFO).exists():
        answer = run([FI_INFO, "-p", "efa", "-t", "FI_EP_RDM"], timeout_s=timeout_s)
        if not answer.is_ok:
            return failed(
                "efa",
                f"{len(up)} adapters are up and libfabric finds none: {answer.error}. Do the "
                "security group's rules name the group itself, both ways?",
                len(up),
            )
    return ok("efa", len(up))


def _is_efa(device: Path) -> bool:
    return (device / "device" / "driver").resolve().name == "efa"


def _is_up(device: Path) -> bool:
    """Return whether the port is active: `4: ACTIVE`."""
    try:
        return "ACTIVE" in (device / "ports" / "1" / "state").read_text(encoding="ascii")
    except OSError:
        return False
