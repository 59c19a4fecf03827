"""Where a notebook is: its region, the stacks, what is mounted, which data is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.places import Place, Places
from training.data.progress import format_bytes
from training.errors import UsageError
from training.layout import LOG_ROOT, TRAIN_PATH
from training.notebook.log_copy import copy_log
from training.notebook.told import Told, told
from training.outputs import CONTRACTS, NetworkOutputs, Outputs, RegistryOutputs, StorageOutputs

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_LABELS = {Place.S3: "S3", Place.EFS: "EFS", Place.FSX: "FSx"}


class Surroundings:
    """What the stacks' outputs and this machine tell."""

    def __init__(self, outputs: Outputs) -> None:
        """Look at nothing yet.

        Args:
            outputs: Of those stacks that are there.
        """
        self._outputs = outputs
        self._places = Places(
            make_client=_s3_client, read_outputs=lambda: outputs, environ=os.environ
        )

    def has_data(self, source: str, files: str = "*") -> bool:
        """Return whether a set was staged, to its end.

        Args:
            source: `s3`, `efs` or `fsx`.
            files: What one of its files must be called, such as `train2017-*.tfrecord`.

        Raises:
            Told: There is no such place, or it cannot be looked at.
        """
        with told():
            manifest = self._places.of_stack(Place(source), TRAIN_PATH).read_manifest()
        return manifest is not None and any(
            fnmatchcase(entry.path, files) for entry in manifest.files
        )

    def log(self, source: str, job_name: str) -> Path:
        """Return the folder of what a job has written, on this machine.

        On EFS and FSx it is the log channel itself. Of S3 it is a copy in the folder `logs` beside
        the notebook, without checkpoints and model.

        Raises:
            Told: There is none, or the file system is not mounted on this machine.
        """
        name = f"log-{job_name}"
        with told():
            channel = self._places.of_stack(Place(source), f"{LOG_ROOT}/{name}")
            if channel.root is None:
                return copy_log(channel, Path("logs", name))
        if not channel.root.is_dir():
            raise Told(f"{channel.root}: no such folder; was job {job_name} launched?")
        return channel.root

    def lines(self) -> Iterator[str]:
        """Yield what there is, for people.

        Raises:
            UsageError: A stack is missing that jobs need.
        """
        for contract in (NetworkOutputs, StorageOutputs, RegistryOutputs):
            self._outputs.read(contract)
        yield f"{self._outputs.source}: {', '.join(self._outputs.stacks)}"
        for place in Place:
            yield f"data on {_LABELS[place]}: {self._describe(place)}"

    def _describe(self, place: Place) -> str:
        if place is Place.FSX and self._outputs.read(StorageOutputs).fsx_id is None:
            return "there is no FSx for Lustre: StorageStack was deployed with fsx = none"
        try:
            side = self._places.of_stack(place, TRAIN_PATH)
            manifest = side.read_manifest()
        except UsageError as error:
            return str(error)
        if manifest is None:
            return f"nothing is staged to {side.name}"
        size = sum(entry.size for entry in manifest.files)
        return f"{side.name}, {len(manifest.files):,} files, {format_bytes(size)}"


def look_around() -> Surroundings:
    """Read the stacks' outputs, print what there is, and return it.

    Raises:
        Told: A stack is missing, or AWS cannot be asked; the message says what to do.
    """
    from training.aws.client import new_client, new_session
    from training.aws.cloudformation import read_outputs_from_cloudformation

    with told():
        client = new_client(new_session(), "cloudformation")
        names = [contract.STACK for contract in CONTRACTS]
        found = Surroundings(read_outputs_from_cloudformation(client, names))
        for line in found.lines():
            sys.stdout.write(f"{line}\n")
    return found


def _s3_client() -> S3Client:
    from training.data.aws import make_s3_client

    return make_s3_client(connections=8)
