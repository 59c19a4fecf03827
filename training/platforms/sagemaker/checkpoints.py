"""Looks whether a job that was stopped left a checkpoint."""

from __future__ import annotations

import re

from training.aws.clients import Clients
from training.errors import AwsError
from training.platforms.common.patience import Patience
from training.platforms.copied_data import bucket_and_key
from training.platforms.sagemaker.ending import Checkpoint
from training.platforms.sagemaker.state import JobState

ATTEMPTS = 3
"""The job has ended: nothing is lost by not knowing."""

_CHECKPOINT = re.compile(r"(?:^|/)(?:step-\d+\.pt|[^/]+-\d+\.index)$")
"""Keys of files that go with a whole checkpoint: of our trainer, and of TensorFlow (whose adapters
are in docker/), where the index is written last."""


def is_checkpoint(path: str) -> bool:
    """Return whether a file of that path goes with a whole checkpoint."""
    return _CHECKPOINT.search(path) is not None


def look_for_checkpoint(state: JobState, patience: Patience) -> Checkpoint:
    """Return whether there is one, as far as it can be seen from here.

    Nobody outside a VPC sees the folders of EFS and FSx; what a job on S3 has saved is in its
    bucket.
    """
    if state.checkpoints is None:
        return Checkpoint.UNKNOWN
    bucket, key = bucket_and_key(state.checkpoints)

    def keys(clients: Clients) -> list[str]:
        return clients.s3.first_keys(bucket, f"{key.rstrip('/')}/checkpoints/")

    try:
        found = patience.ask(keys, attempts=ATTEMPTS)
    except AwsError:
        return Checkpoint.UNKNOWN
    return Checkpoint.THERE if any(map(is_checkpoint, found)) else Checkpoint.NONE
