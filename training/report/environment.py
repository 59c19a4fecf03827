"""What a job runs on, for its record: the machine, and the versions of what computes."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("torch", "torchvision", "horovod", "numpy", "pycocotools", "pillow")


def describe_environment() -> dict[str, Any]:
    """Return `versions` and `machine`, as the record of a job (job.json) has them."""
    return {"versions": _versions(), "machine": describe_machine()}


def describe_machine() -> dict[str, Any]:
    """Return the processor, the cores that this process may use, memory and system."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory_bytes / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _cpu_model() -> str:
    """Return Linux's name of the processor, which the standard library does not give."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
