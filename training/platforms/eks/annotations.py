"""What the charts write on an MPIJob for whoever looks after it; charts/library has the same."""

from __future__ import annotations

FINGERPRINT = "mask-rcnn/fingerprint"
"""Tells one request from another of the same name."""

LOG = "mask-rcnn/log"
"""The job's log folder, as its pods have it."""

INSTANCE_TYPE = "mask-rcnn/instance-type"
"""That the job's workers run on; the cluster's may be another by now."""

NODES = "mask-rcnn/nodes"
"""How many workers the job takes."""

RELEASE = "meta.helm.sh/release-name"
RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"
"""Of the release that made an object; helm writes both:
https://helm.sh/docs/topics/charts_tips_and_tricks/"""

SELECTOR = "app.kubernetes.io/part-of=mask-rcnn"
"""The label of every object of our charts."""
