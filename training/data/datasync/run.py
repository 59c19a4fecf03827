"""`stage --with datasync`: what it would do and cost, and then the copy itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.data.datasync.plan import Transfer, plan_transfer
from training.data.datasync.price import transfer_cost
from training.data.datasync.transfer import Running
from training.data.mounts import find_mount
from training.data.on.elsewhere import On
from training.data.paths import path_of_set
from training.data.places import Place
from training.data.request import StageRequest
from training.errors import UsageError
from training.job_options import read_outputs
from training.outputs import NetworkOutputs, StorageOutputs

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Copy:
    """A copy by DataSync that can be made; the ordinary one, which compares all of it, follows."""

    request: StageRequest
    transfer: Transfer
    storage: StorageOutputs

    def to_json(self) -> dict[str, Any]:
        """Return what DataSync is asked, and its cost."""
        cost = transfer_cost(_region(self.storage), None)
        return {"request": self.transfer.to_json(), "cost": cost.to_json()}

    def run(self, tell: Tell) -> None:
        """Make it.

        Args:
            tell: Takes a line for the user.

        Raises:
            UsageError: FSx does it by itself, or there is nothing to copy.
            JobFailed: It failed.
            AwsError: AWS refused, or cannot be reached.
        """
        _copy(self.request, self.transfer, self.storage, tell)


def plan(request: StageRequest, outputs_file: Path | None, *, on: On) -> Copy:
    """Plan a copy; nothing is asked of DataSync.

    Args:
        outputs_file: None asks CloudFormation.
        on: Where the copy will run that follows.

    Raises:
        UsageError: DataSync cannot do it, or nobody could compare the copy.
        AwsError: The outputs cannot be read.
    """
    outputs = read_outputs((NetworkOutputs, StorageOutputs), outputs_file)
    network, storage = outputs.read(NetworkOutputs), outputs.read(StorageOutputs)
    transfer = plan_transfer(request, network, storage)
    if on is On.HERE:
        _require_mounts(request, storage)
    request = replace(request, path=path_of_set(request.path))
    return Copy(request, transfer, storage)


def _region(storage: StorageOutputs) -> str:
    return storage.arn("encryption_key_arn").region


def _copy(request: StageRequest, transfer: Transfer, storage: StorageOutputs, tell: Tell) -> None:
    from training.aws.client import new_client, new_session
    from training.aws.datasync import DataSync

    region = _region(storage)
    session = new_session()
    _refuse_link(request, storage)
    cost = transfer_cost(region, _source_bytes(request, storage))
    price = "unknown" if cost.maximum is None else f"at most {cost.maximum:,.2f} {cost.currency}"
    tell(f"cost: {price} ({'; '.join(cost.assumptions)})")
    # Once each: what makes something must not be asked twice by itself.
    making = new_client(session, "datasync", region=region, read_timeout_s=60, attempts=1)
    looking = new_client(session, "datasync", region=region, attempts=8)
    Running(DataSync(making, looking), transfer, tell).run()
    tell("DataSync is done; now every file is compared with the manifest")


def _source_bytes(request: StageRequest, storage: StorageOutputs) -> int | None:
    """Return how much there is to copy; None where the source cannot be seen from here."""
    if request.origin is not Place.S3:
        return None
    from training.aws.errors import translated
    from training.data.aws import make_s3_client
    from training.data.bucket import Bucket

    client = make_s3_client(connections=request.jobs)
    with translated():
        files = Bucket(client, storage.bucket_name, storage.key(request.path)).files()
    if not files:
        raise UsageError(
            f"s3://{storage.bucket_name}/{storage.key(request.path)}: there are no files to copy"
        )
    return sum(state.size for state in files.values())


def _refuse_link(request: StageRequest, storage: StorageOutputs) -> None:
    """Refuse what FSx does by itself, for nothing."""
    if {request.origin, request.to} != {Place.FSX, Place.S3}:
        return
    from training.aws.client import new_client, new_session
    from training.data.lustre_link import find_link

    lustre = storage.lustre(asked_by=Place.FSX.value)
    address = f"s3://{storage.bucket_name}/{storage.key(request.path)}"
    folder = f"{lustre.data_path.strip('/')}/{request.path}".strip("/")
    client = new_client(new_session(), "fsx", region=_region(storage))
    if find_link(client, lustre.id, address, folder):
        raise UsageError(
            f"--with datasync: {lustre.id} is linked to {address}: FSx imports and exports by "
            "itself, and DataSync would ask for money for it. Leave --with out"
        )


def _require_mounts(request: StageRequest, storage: StorageOutputs) -> None:
    """Refuse a copy that nobody here could compare."""
    ids = {Place.EFS: storage.efs_id, Place.FSX: storage.fsx_id}
    for place in (request.origin, request.to):
        identity = ids.get(place) if place else None
        names = [storage.fsx_mount_name or ""]
        if identity and find_mount(identity, environ=os.environ, aliases=names) is None:
            raise UsageError(
                f"--with datasync: {identity} is not mounted on this machine, so that nobody here "
                "could compare the copy. Add --on sagemaker, ec2 or eks"
            )
