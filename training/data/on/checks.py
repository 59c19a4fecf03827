"""What is asked before a copy is started somewhere else: the checks of a launch that apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from training.data.on.errand import Errand
from training.data.places import Place
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.image import ImageIsThere
from training.preflight.job.lustre import JobsReachLustre
from training.preflight.peers import Members

if TYPE_CHECKING:
    from training.preflight.check import Check
    from training.preflight.job.whereabouts import Whereabouts

ALGORITHM = "horovod"
"""Whose image has this program."""


def image_check(errand: Errand, place: Whereabouts) -> Check:
    """Return the check that the image is in ECR."""
    return ImageIsThere(
        place.clients.ecr, errand.image, ALGORITHM, place.region, place.identity.account
    )


def mount_checks(
    errand: Errand, group_id: str, subnet_ids: Sequence[str], place: Whereabouts
) -> Iterator[Check]:
    """Yield the checks that the file systems can be mounted.

    Args:
        group_id: Of the machine that would mount them.
        subnet_ids: Where it may be.
    """
    clients, storage = place.clients, errand.storage
    machines = Members(group_id, tuple(subnet_ids))
    if Place.EFS in errand.places:
        yield JobsReachEfs(clients.ec2, clients.efs, storage.efs_id, machines)
    if Place.FSX in errand.places:
        lustre = storage.lustre(asked_by=Place.FSX.value)
        path = f"/{lustre.mount_name}"
        yield JobsReachLustre(clients.ec2, clients.fsx, lustre.id, path, machines)
