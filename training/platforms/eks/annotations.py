"""What the charts write on an MPIJob for whoever looks after it; charts/library has the same."""

from __future__ import annotations

FINGERPRINT = "mask-rcnn/fingerprint"
"""Tells one request from another of the same name."""

LOG = "mask-rcnn/log"
"""The job's log folder, as its pods have it."""

SELECTOR = "app.kubernetes.io/part-of=mask-rcnn"
"""The label of every object of our charts."""
