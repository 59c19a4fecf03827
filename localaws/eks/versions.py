"""Versions of Kubernetes that EKS has here."""

from __future__ import annotations

VERSIONS = {
    "1.34": ("2025-10-02", "2026-12-02"),
    "1.35": ("2026-01-27", "2027-03-27"),
    "1.36": ("2026-06-30", "2027-08-30"),
}
"""Versions of Kubernetes, to their release and the end of their standard support here.

https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
"""


def minor(version: str) -> int:
    """Return 35 of `1.35`."""
    return int(version.partition(".")[2])
