"""The machine's NVIDIA GPUs: how many are plugged in, and how many the driver knows.

`python3 -m node.gpus` says what is wrong between the two, or nothing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .errors import NodeError

DEVICES = Path("/sys/bus/pci/devices")
_VENDOR = "0x10de"
_DISPLAY_CLASS = "0x03"
"""VGA and 3D controllers; an NVSwitch is of the same vendor and a bridge (0x06)."""
_TIMEOUT_S = 60
"""The first call after a start loads the driver on each of up to 16 GPUs."""


def on_bus(devices: Path = DEVICES) -> int:
    """Return how many GPUs the PCI bus has, whatever the driver says."""
    count = 0
    for device in devices.iterdir() if devices.is_dir() else ():
        try:
            vendor = (device / "vendor").read_text().strip()
            kind = (device / "class").read_text().strip()
        except OSError:
            continue
        count += vendor == _VENDOR and kind.startswith(_DISPLAY_CLASS)
    return count


def in_driver() -> int:
    """Return how many GPUs the driver has ready.

    Raises:
        NodeError: There is no driver, or it does not work.
    """
    try:
        done = subprocess.run(
            ["nvidia-smi", "--list-gpus"],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise NodeError("there is no nvidia-smi") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError(f"nvidia-smi: {error}") from error
    if done.returncode != 0:
        said = " ".join((done.stdout + done.stderr).split())
        raise NodeError(f"nvidia-smi ended with {done.returncode}: {said[-300:]}")
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


def slots(role: str) -> int:
    """Return how many training processes this machine takes.

    Raises:
        NodeError: Its driver does not work.
    """
    if on_bus():
        return in_driver()
    return 1 if role == "worker" else 0


def check() -> None:
    """Compare the two.

    Raises:
        NodeError: GPUs are there that cannot be used.
    """
    there = on_bus()
    if not there:
        return
    try:
        ready = in_driver()
    except NodeError as error:
        raise NodeError(
            f"AMI without driver: this machine has {there} NVIDIA GPUs, and {error}. Take an AMI "
            "with a driver for them (cluster_ami empty: the Deep Learning Base AMI of this family)"
        ) from error
    if ready < there:
        raise NodeError(
            f"this machine has {there} NVIDIA GPUs, but the driver has {ready} ready: replace it"
        )


def main() -> int:
    try:
        check()
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    sys.stdout.write(f"GPUs: {on_bus()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
