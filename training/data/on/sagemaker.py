"""On SageMaker: a training job of one instance, whose channels are whole file systems.

SageMaker Processing mounts no file systems. The job is listed, followed and stopped as any other:
`python -m training.jobs list`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from training.data.on.answer import as_it_left, stopped
from training.data.on.errand import Errand
from training.data.on.old_run import refuse_old
from training.data.on.trip import Show, Trip
from training.data.places import Place
from training.errors import AwsError, JobFailed, UsageError
from training.layout import LOG_ROOT
from training.outputs import NetworkOutputs, Outputs, StorageOutputs
from training.platforms.common.tags import tags
from training.platforms.sagemaker.file_system import FileSystem
from training.platforms.sagemaker.one_instance import OneInstance
from training.platforms.sagemaker.state import read_state
from training.prices.cache import price_cache
from training.prices.cost import sagemaker_cost

if TYPE_CHECKING:
    from training.aws.clients import Clients
    from training.preflight.check import Check
    from training.preflight.job.whereabouts import Whereabouts

READS = (NetworkOutputs,)

INSTANCE_TYPE = "ml.c5.4xlarge"
"""Up to 10 Gbit/s for a price of little: many small files want cores and network, no memory.
https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html"""

_TYPE = re.compile(r"ml(\.[a-z0-9-]+){2}")

_CHANNELS = "/opt/ml/input/data"

_OVER_TIME = "MaxRuntimeExceeded"
"""The secondary status of a job that was stopped by its limit.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html"""


def plan(errand: Errand, outputs: Outputs) -> Trip:
    """See `training.data.on.trip.Runner`."""
    if errand.instance_type is not None and not _TYPE.fullmatch(errand.instance_type):
        raise UsageError(
            f"--instance-type {errand.instance_type}: expected a type of SageMaker's, such as "
            f"{INSTANCE_TYPE}"
        )
    network, storage = outputs.read(NetworkOutputs), errand.storage
    body = OneInstance(
        name=errand.name,
        image=errand.image,
        arguments=errand.arguments,
        file_systems={place.value: _file_system(place, storage) for place in errand.places},
        vpc=_vpc(errand, network),
        role_arn=storage.training_role_arn,
        instance_type=errand.instance_type or INSTANCE_TYPE,
        max_run_s=errand.max_run_s,
        output=f"s3://{storage.bucket_name}/{storage.key(LOG_ROOT)}",
        key_arn=storage.encryption_key_arn,
        network_isolation=False,  # It reads and writes S3.
        tags=tags({}, project=network.project, job=errand.name),
        hyperparameters=errand.told({place: f"{_CHANNELS}/{place}" for place in errand.places}),
    ).body()
    return Trip(
        where=f"training job {errand.name} on one {body['ResourceConfig']['InstanceType']}",
        name=errand.name,
        request=body,
        cost=sagemaker_cost(
            body,
            region=errand.region,
            today=datetime.now(UTC).date(),
            cache=price_cache(os.environ),
        ),
    )


def region(outputs: Outputs) -> str | None:  # noqa: ARG001
    """See `training.data.on.trip.Runner`."""
    return None


def checks(errand: Errand, trip: Trip, place: Whereabouts) -> Iterator[Check]:
    """See `training.data.on.trip.Runner`."""
    from training.data.on.checks import image_check, mount_checks
    from training.preflight.efs_policy import EfsPolicyAdmitsJobs
    from training.preflight.job.asked import Asked
    from training.preflight.job.instance_type import TypeIsOffered
    from training.preflight.job.quotas import QuotasSuffice
    from training.preflight.job.subnets import SubnetsHaveAddresses

    asked, clients = Asked.of(trip.request), place.clients
    yield image_check(errand, place)
    yield TypeIsOffered(
        clients.ec2,
        asked.instance_type,
        asked.subnet_ids,
        place.region,
        is_bound=Place.FSX in errand.places,
    )
    yield QuotasSuffice(
        clients.service_quotas,
        clients.sagemaker,
        place.region,
        asked.instance_type,
        1,
        is_spot=False,
        keep_alive_s=0,
        max_run_s=asked.max_run_s,
        preparation_type=None,
    )
    yield SubnetsHaveAddresses(clients.ec2, asked.subnet_ids, 1, 1)
    yield from mount_checks(errand, asked.group_ids[0], asked.subnet_ids, place)
    if Place.EFS in errand.places:
        yield EfsPolicyAdmitsJobs(
            efs=clients.efs,
            file_system_id=errand.storage.efs_id,
            key="--on",
            alternative="take --on ec2",
        )


def send(trip: Trip, outputs: Outputs, show: Show) -> None:  # noqa: ARG001
    """See `training.data.on.trip.Runner`."""
    from training.platforms.common.patience import connect
    from training.platforms.sagemaker.commands import how_to_look
    from training.platforms.sagemaker.follow import follow
    from training.platforms.sagemaker.submission import submit

    clients, asked_at = connect(), datetime.now(UTC)
    refuse_old(submit(clients, trip.request), asked_at, look=how_to_look(trip.name))
    try:
        follow(clients, trip.name, show)
    except JobFailed as error:
        if why := _why_stopped(connect, trip.name):
            raise stopped(trip.name, why) from error
        raise as_it_left(error) from error


def _why_stopped(connect: Callable[[], Clients], name: str) -> str | None:
    """Return why a job was stopped; None where it was not, or AWS does not tell any more.

    Args:
        connect: Makes clients, with the credentials of now: a copy may take longer than a login.
    """
    try:
        found = connect().sagemaker.training_job(name)
    except AwsError:
        # How it ended is known; what AWS says to this question must not take its place.
        return None
    state = None if found is None else read_state(found)
    if state is None or state.status != "stopped":
        return None
    return "its time limit, --max-run-s" if state.secondary == _OVER_TIME else "as asked"


def _file_system(place: Place, storage: StorageOutputs) -> FileSystem:
    if place is Place.EFS:
        return FileSystem(id=storage.efs_id, type="EFS")
    lustre = storage.lustre(asked_by=place.value)
    return FileSystem(id=lustre.id, type="FSxLustre", mount_name=lustre.mount_name)


def _vpc(errand: Errand, network: NetworkOutputs) -> dict[str, list[str]]:
    subnets = list(network.private_subnet_ids)
    if Place.FSX in errand.places:
        # FSx for Lustre is in one zone: elsewhere, traffic is slower and paid for.
        subnets = [errand.storage.lustre(asked_by=Place.FSX.value).subnet_id]
    return {"SecurityGroupIds": [network.training_security_group_id], "Subnets": subnets}
