"""The charts of the algorithms."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "charts"

CHARTS = {
    "horovod": "maskrcnn-horovod",
    "tensorpack": "maskrcnn",
    "aws-samples": "maskrcnn-optimized",
}
"""By algorithm; the others do not run on Kubernetes (training/algorithms/pairings.py)."""


def chart_of(algorithm: str) -> str:
    """Return the name of an algorithm's chart, which is its folder's below `FOLDER`."""
    return CHARTS[algorithm]
