"""What the all-reduce runs in."""

from __future__ import annotations

from training.algorithms.pairings import check_pairing
from training.errors import UsageError
from training.instances import known_instance
from training.outputs import ClusterOutputs, Outputs, RegistryOutputs

ALGORITHM = "horovod"
"""Whose image has torch."""


def image_of(cluster: ClusterOutputs, outputs: Outputs) -> str | None:
    """Return this project's own image with torch; None where the nodes cannot run it.

    None also where jobs run in the nodes' own environment, which needs no image.
    """
    if cluster.runs_in != "image":
        return None
    from training.images.tag import image_tag

    try:
        check_pairing(
            algorithm=ALGORITHM,
            platform="ec2",
            data_source="efs",
            instance=known_instance(cluster.worker_instance_type),
        )
        registry = outputs.read(RegistryOutputs)
    except UsageError:
        return None
    return f"{registry.horovod_repository_uri}:{image_tag(ALGORITHM)}"
