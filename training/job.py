"""The job spec: what to train, where and on what, and how far it may go.

One spec runs on every platform. It is built from its defaults, a YAML file, and what the command
line sets, in this order; the later one wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from training import algorithms, platforms
from training.errors import UsageError
from training.layout import LOG_ROOT, TRAIN_PATH
from training.platforms.ec2.options import Ec2Options
from training.platforms.eks.options import EksOptions
from training.platforms.local_options import LocalOptions
from training.platforms.sagemaker.options import SageMakerOptions
from training.spec_part import SpecPart
from training.validation import explain, unknown_key
from training.yaml_file import read_yaml

DataSource = Literal["s3", "efs", "fsx"]

JOB_NAME = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
"""The pattern of a job's name, which Tab completion has too."""


def is_job_name(name: str) -> bool:
    """Return whether a job can have that name: SageMaker's rule for a training job's."""
    return re.fullmatch(JOB_NAME, name) is not None


def _must_be_job_name(name: str) -> str:
    if not is_job_name(name):
        raise ValueError(
            "expected 1 to 63 letters of English, digits and hyphens, with no hyphen at either end"
        )
    return name


JobName = Annotated[str, AfterValidator(_must_be_job_name)]
"""SageMaker's rule for a training job's name; platform eks takes fewer names still."""


_CHANNEL_PATH = re.compile(
    # In an argument list it must not be taken for an option.
    r"[A-Za-z0-9_.][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*"
)


def _is_channel_path(path: str) -> str:
    if not _CHANNEL_PATH.fullmatch(path):
        raise ValueError(
            "expected folders with / between them, of letters of English, digits and _ . -, with "
            "no / at either end and no - at the start"
        )
    return path


def _stays_below(path: str) -> str:
    if any(part in {".", ".."} for part in path.split("/")):
        raise ValueError("a channel's path has no part . or ..")
    return path


ChannelPath = Annotated[
    str,
    StringConstraints(max_length=512),
    AfterValidator(_is_channel_path),
    AfterValidator(_stays_below),
]
"""A path below the bucket or the file system's root: no leading slash and no space."""


class Instances(SpecPart):
    """The machines."""

    type: str | None = Field(default=None, min_length=1)
    """An instance type, with or without SageMaker's `ml.`. None takes the algorithm's default, on
    platforms `ec2` and `eks` the cluster's; on `local` there is none. `local` on platform
    `sagemaker`: containers on this machine."""
    count: int | None = Field(default=None, ge=1, le=1000)
    """How many machines; on platform `ec2` worker nodes, besides the head, on `eks` GPU nodes. None
    takes the algorithm's default, as far as the cluster has so many; 1 on platform `local`."""
    processes_per_instance: int | None = Field(default=None, ge=1, le=64)
    """Training processes on each machine; None is one for each GPU, or one where there is none."""


class Channels(SpecPart):
    """Where the data and the logs are, below the bucket or the file system's root."""

    train: ChannelPath = TRAIN_PATH
    """The data set, in COCO's layout; read only."""
    log: ChannelPath = LOG_ROOT
    """Each job makes a new folder `log-…` in it."""

    @model_validator(mode="after")
    def _keep_logs_out_of_the_data(self) -> Self:
        if f"{self.log}/".startswith(f"{self.train}/"):
            raise ValueError(
                "log lies in train, and what a job writes would be data of the next; choose a "
                "folder beside it"
            )
        return self


class Limits(SpecPart):
    """When to stop."""

    max_run_s: int = Field(default=400_000, ge=1)
    """Seconds after which the job saves a checkpoint and stops with exit code 75."""
    max_usd: float | None = Field(default=None, ge=0)
    """A job whose maximum cost is higher, or unknown, is not started."""


class Spot(SpecPart):
    """Spare capacity at a lower price, which AWS may take back: the job then goes on later."""

    enabled: bool = False
    """Whether to run on spot capacity."""
    max_wait_s: int | None = Field(default=None, ge=1)
    """Seconds for waiting and running together; None is a day more than `limits.max_run_s`."""


class JobSpec(SpecPart):
    """Everything that a user can say about a job."""

    name: JobName | None = None
    """None makes one: `mask-rcnn-<data source>-<timestamp>`."""
    algorithm: str = "horovod"
    """What trains: a name in `training/algorithms/`."""
    platform: str = "local"
    """Where it runs: a name in `training/platforms/`."""
    data_source: DataSource = "s3"
    """Where the channels are: `s3`, `efs` or `fsx`."""
    instances: Instances = Instances()
    channels: Channels = Channels()
    hyperparameters: dict[str, Any] = Field(default_factory=dict)
    """The algorithm's own; see below."""
    limits: Limits = Limits()
    spot: Spot = Spot()
    retries: int = Field(default=0, ge=0, le=30)
    """How often to start again after a failure of AWS's own machines; on platforms `ec2` and `eks`
    after any failure, from the last checkpoint."""
    image: str | None = None
    """The container image: `registry/repository:tag` or `…@sha256:…`. None takes the algorithm's
    repository of RegistryStack, with the tag of the sources in `docker/`."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables for the training processes, on top of those that the plan sets."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Cost allocation tags, besides `Project` and `Job`."""
    local: LocalOptions = LocalOptions()
    sagemaker: SageMakerOptions = SageMakerOptions()
    ec2: Ec2Options = Ec2Options()
    eks: EksOptions = EksOptions()


@dataclass(frozen=True)
class Job:
    """A spec whose algorithm has taken its hyperparameters."""

    spec: JobSpec
    hyperparameters: BaseModel


def read_job(path: Path | None, overrides: Mapping[str, Any]) -> Job:
    """Build a job from its file and what the command line sets.

    Args:
        path: A YAML file, or None for the defaults.
        overrides: Dotted key to value, for example `{"hyperparameters.seed": 1}`.

    Raises:
        UsageError: Every line names one key, the value and what is allowed.
    """
    document = read_document(path) if path is not None else {}
    for key, value in overrides.items():
        _set(document, key, value)
    source = str(path) if path is not None else "job"
    try:
        spec = JobSpec.model_validate(document)
    except ValidationError as error:
        raise UsageError(_join(source, explain(error, JobSpec))) from error
    _check_registered(source, spec)
    model = algorithms.load(spec.algorithm).HYPERPARAMETERS
    try:
        hyperparameters = model.model_validate(spec.hyperparameters)
    except ValidationError as error:
        raise UsageError(_join(source, explain(error, model, prefix="hyperparameters."))) from error
    return Job(spec, hyperparameters)


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Parse `KEY=VALUE` of `--set`; the value is read as YAML reads it, so `1` is a number.

    Raises:
        UsageError: One has no `=`, an empty key, or a value that is not YAML.
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not all(part.strip() for part in key.split(".")):
            raise UsageError(
                f"--set {assignment}: expected KEY=VALUE, for example hyperparameters.seed=1"
            )
        values[key.strip()] = read_yaml(text, source=f"--set {assignment}")
    return values


def _check_registered(source: str, spec: JobSpec) -> None:
    for key, name, known in (
        ("algorithm", spec.algorithm, algorithms.NAMES),
        ("platform", spec.platform, platforms.NAMES),
    ):
        if name not in known:
            raise UsageError(f"{source}: {key}: {name!r} is not one of {', '.join(known)}")


def read_document(path: Path) -> dict[str, Any]:
    """Return what a job's file says, as it is.

    Raises:
        UsageError: It cannot be read, or has no keys and values.
    """
    try:
        # A byte order mark, as some editors write it, is not part of the first key.
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text ({error})") from error
    document = read_yaml(text, source=str(path))
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{path}: expected keys and values, found {type(document).__name__}")
    return document


def _set(document: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    target: dict[str, Any] = document
    for depth, parent in enumerate(parents):
        child = target.setdefault(parent, {})
        if not isinstance(child, dict):
            where = ".".join(parents[: depth + 1])
            if where in JobSpec.model_fields or depth > 0:
                raise UsageError(f"--set {key}: {where} holds {child!r}, so it has no key {last}")
            raise UsageError(unknown_key(f"--set {key}", parent, JobSpec.model_fields))
        target = child
    target[last] = value


def _join(source: str, lines: Sequence[str]) -> str:
    return "\n".join(f"{source}: {line}" for line in lines)
