"""What is to be done inside the VPC, as every place is told it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from training.data.paths import path_of_set
from training.data.places import Place, bucket_and_prefix, place_in
from training.data.request import StageRequest
from training.errors import UsageError
from training.outputs import StorageOutputs

COMMAND = "data"
"""Of the image's entry point: docker/entrypoint/data.py."""

MAX_RUN_S = 24 * 3600
"""COCO takes minutes; what hangs is to be paid for a day at most."""

MAX_NAME_LENGTH = 52
"""Of a release of charts/stage-data, whose pod has 11 characters more: the shortest of all."""

_NAME = re.compile(rf"[a-z0-9]([a-z0-9-]{{0,{MAX_NAME_LENGTH - 2}}}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Errand:
    """One run of a command somewhere else.

    Attributes:
        name: Of the run, wherever it is.
        command: The arguments of `python -m training.data`.
        places: The file systems that have to be mounted.
        storage: What StorageStack made.
        image: That of the first-party trainer.
        max_run_s: It is stopped then; the next run goes on from there.
        instance_type: Where a machine is started for it; None takes the place's own.
    """

    name: str
    command: tuple[str, ...]
    places: tuple[Place, ...]
    storage: StorageOutputs
    image: str
    max_run_s: int
    instance_type: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no name.

        Raises:
            UsageError: The name is none.
        """
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"--name {self.name}: expected 1 to {MAX_NAME_LENGTH} of a-z, 0-9 and -, neither "
                "first nor last a -"
            )

    @property
    def arguments(self) -> list[str]:
        """Of the entry point."""
        return [COMMAND, *self.command, "--format", "json"]

    def told(self, mounts: Mapping[Place, str]) -> dict[str, str]:
        """Return what hyperparameters.json holds.

        Args:
            mounts: Where the container has the file systems.
        """
        outputs = {self.storage.STACK: self.storage.to_outputs()}
        by_id = {self.file_system_id(place): folder for place, folder in mounts.items()}
        return {"outputs": _compact(outputs), "mounts": _compact(by_id), "region": self.region}

    @property
    def region(self) -> str:
        """Of the stacks, which no output names by itself."""
        return self.storage.arn("encryption_key_arn").region

    def file_system_id(self, place: Place) -> str:
        """Return `fs-…`.

        Raises:
            UsageError: StorageStack has no such file system.
        """
        if place is Place.EFS:
            return self.storage.efs_id
        return self.storage.lustre(asked_by=place.value).id


@dataclass(frozen=True)
class Task:
    """What is to be run, whatever it will be called.

    Attributes:
        command: The arguments of `python -m training.data`.
        places: The file systems that have to be mounted.
        title: What a run is called after, where the user gives it no name.
    """

    command: tuple[str, ...]
    places: tuple[Place, ...]
    title: str

    def default_name(self, now: datetime) -> str:
        return f"{self.title}-{now.strftime('%Y%m%d-%H%M%S')}"


def of_stage(request: StageRequest) -> Task:
    """Return a copy as a task.

    Raises:
        UsageError: The source is a folder of this machine or no address of S3, or the path can be
            no data set's.
    """
    path_of_set(request.path)
    if request.source:
        _check_source(request.source)
    used = {request.origin, request.to}
    title = f"stage-{request.origin or 's3'}-{request.to}"
    return Task(tuple(_arguments(request)), _mounted(used), title)


def of_verify(left: str, right: str, *, jobs: int) -> Task:
    """Return a comparison as a task.

    Raises:
        UsageError: One side is a folder of this machine, or no address of S3.
    """
    for side in (left, right):
        if place_in(side) is None:
            _check_source(side)
    used = {place_in(left), place_in(right)}
    return Task(("verify", left, right, "--jobs", str(jobs)), _mounted(used), title="verify")


def _mounted(used: set[Place | None]) -> tuple[Place, ...]:
    return tuple(place for place in (Place.EFS, Place.FSX) if place in used)


def _check_source(source: str) -> None:
    """Refuse what cannot be read from inside the VPC."""
    if source.startswith("s3://"):
        bucket_and_prefix(source)
        return
    raise UsageError(
        f"{source}: is a folder of this machine, which is not reached from inside the VPC. "
        f"Copy it to S3 first: python -m training.data stage {shlex.quote(source)} --to s3"
    )


def _arguments(request: StageRequest) -> list[str]:
    """Return the command line that the same request is read from."""
    said = ["stage"]
    if request.source:
        said.append(request.source)
    elif request.from_place:
        said += ["--from", request.from_place.value]
    said += ["--to", request.to.value, "--path", request.path, "--jobs", str(request.jobs)]
    flags = {"delete": request.delete, "preload": request.preload, "release": request.release}
    return [*said, *(f"--{name}" for name, is_set in flags.items() if is_set)]


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
