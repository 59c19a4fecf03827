"""On the EC2 cluster: a container on its head node, by way of the head's program.

It is listed, followed and stopped as a job there, and takes no worker:
`python -m training.jobs list --platform ec2`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from training.data.on.answer import as_it_left, stopped
from training.data.on.errand import Errand
from training.data.on.old_run import refuse_old
from training.data.on.trip import Show, Trip
from training.data.places import Place
from training.errors import AwsError, Interrupted, JobFailed, UsageError
from training.outputs import ClusterOutputs, NetworkOutputs, Outputs
from training.platforms.api import Cost
from training.platforms.ec2.command import send_command
from training.platforms.ec2.places import OWN_FOLDER
from training.platforms.ec2.where import where_is

if TYPE_CHECKING:
    from training.platforms.ec2.head import Head
    from training.preflight.check import Check
    from training.preflight.job.whereabouts import Whereabouts

READS = (NetworkOutputs, ClusterOutputs)

VERSION = 1

ATTEMPTS = 7
"""Of each request to AWS; with the pauses in between, about a minute."""


def plan(errand: Errand, outputs: Outputs) -> Trip:
    """See `training.data.on.trip.Runner`."""
    cluster = outputs.read(ClusterOutputs)
    document = {
        "version": VERSION,
        "kind": "stage",
        "name": errand.name,
        "image": errand.image if cluster.runs_in == "image" else None,
        "arguments": errand.arguments,
        "hyperparameters": errand.told(_mounts(errand, cluster)),
        "log": f"{cluster.efs_mount}/{OWN_FOLDER}/{cluster.cluster_name}/staging/{errand.name}",
        "max_run_s": errand.max_run_s,
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["fingerprint"] = hashlib.sha256(text.encode()).hexdigest()
    return Trip(
        where=f"{errand.name} on the head node of cluster {cluster.cluster_name}, "
        f"{cluster.head_instance_type}",
        name=errand.name,
        request={
            "SendCommand": send_command(cluster, "submit", document, about=errand.name),
            "runs": document,
        },
        cost=Cost(
            per_hour=0.0,
            maximum=0.0,
            assumptions=("the head node runs in any case; requests of S3 come on top",),
        ),
    )


def region(outputs: Outputs) -> str | None:
    """See `training.data.on.trip.Runner`."""
    return where_is(outputs.read(ClusterOutputs)).region


def checks(errand: Errand, trip: Trip, place: Whereabouts) -> Iterator[Check]:
    """See `training.data.on.trip.Runner`."""
    from training.data.on.checks import image_check
    from training.preflight.job.ec2.head import DocumentIsThere, HeadIsThere

    body, document = trip.request["SendCommand"], trip.request["runs"]
    clients, [group] = place.clients, body["Targets"][0]["Values"]
    yield HeadIsThere(clients.autoscaling, clients.ssm, group, by_ssm=True)
    yield DocumentIsThere(clients.ssm, body["DocumentName"])
    if document["image"] is not None and ".dkr.ecr." in document["image"]:
        yield image_check(errand, place)


def send(trip: Trip, outputs: Outputs, show: Show) -> None:
    """See `training.data.on.trip.Runner`."""
    from training.platforms.ec2.commands import how_to_look
    from training.platforms.ec2.follow import follow
    from training.platforms.ec2.head import head_of
    from training.platforms.ec2.sending import submit

    cluster, asked_at = outputs.read(ClusterOutputs), datetime.now(UTC)
    head = head_of(cluster, attempts=ATTEMPTS)
    found = submit(trip.name, trip.request["runs"], head)
    refuse_old(found, asked_at, look=how_to_look(trip.name))
    try:
        follow(head_of(cluster, attempts=None), trip.name, show)
    except Interrupted as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise
        raise stopped(trip.name, _why_stopped(head, trip.name)) from error
    except JobFailed as error:
        raise as_it_left(error) from error


def _why_stopped(head: Head, name: str) -> str:
    from training.platforms.ec2.state import read_state

    try:
        return read_state(head.ask("status", {"name": name})).reason or "as asked"
    except AwsError:
        # That it was stopped is known, and more than why.
        return "as asked, or by its time limit"


def _mounts(errand: Errand, cluster: ClusterOutputs) -> dict[Place, str]:
    folders = {Place.EFS: cluster.efs_mount, Place.FSX: cluster.fsx_mount}
    found = {}
    for place in errand.places:
        folder = folders[place]
        if folder is None:
            raise UsageError(
                f"{place}: the nodes of {cluster.STACK} do not mount FSx for Lustre: it was "
                f"deployed before the file system. Deploy it again (cdk deploy {cluster.STACK})"
            )
        found[place] = folder
    return found
