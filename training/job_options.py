"""The options with which commands are told of a job, and the plan that they lead to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from training import algorithms, platforms
from training.errors import FOLDER_GONE, UsageError
from training.platforms.api import Launch, Machine, Plan

if TYPE_CHECKING:
    from training.job import Job
    from training.outputs import Contract, Outputs

PlatformName = StrEnum("PlatformName", platforms.NAMES)  # type: ignore[misc]
AlgorithmName = StrEnum("AlgorithmName", algorithms.NAMES)  # type: ignore[misc]
DataSourceName = StrEnum("DataSourceName", ["s3", "efs", "fsx"])

OutputsFileOption = Annotated[
    Path | None,
    typer.Option(help="What cdk deploy --outputs-file wrote; CloudFormation by default."),
]
"""Also of commands about images, which go where the stacks are."""


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """What a command was told; None where nothing was said."""

    job_file: Annotated[
        Path | None, typer.Argument(metavar="[JOB.yaml]", help="The job spec; see jobs/.")
    ] = None
    platform: Annotated[
        PlatformName | None, typer.Option(help="Where it runs; the spec's, or local.")
    ] = None
    algorithm: Annotated[
        AlgorithmName | None, typer.Option(help="What trains; the spec's, or horovod.")
    ] = None
    data_source: Annotated[
        DataSourceName | None, typer.Option(help="Where the channels are; the spec's, or s3.")
    ] = None
    instance_type: Annotated[
        str | None,
        typer.Option(
            help="Machine, such as p4d.24xlarge; the algorithm's by default, none for platform "
            "local. local on platform sagemaker: containers on this machine."
        ),
    ] = None
    instance_count: Annotated[
        int | None, typer.Option(help="How many machines; the algorithm's by default, 1 on local.")
    ] = None
    name: Annotated[
        str | None, typer.Option(help="The job's name; made from data source and time by default.")
    ] = None
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key, as hyperparameters.seed=1."),
    ] = None
    outputs_file: OutputsFileOption = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint of the named job.")
    ] = False

    @property
    def say_something(self) -> bool:
        """Whether any of them was given."""
        return any(vars(self).values())

    def plan(self) -> tuple[Job, Plan]:
        """Read the job and plan it; nothing is started.

        Raises:
            UsageError: The job is wrong, or its platform cannot run it.
            AwsError: The stacks' outputs cannot be read.
        """
        job = self.read()
        platform = platforms.load(job.spec.platform)
        outputs = read_outputs(platform.READS, self.outputs_file)
        launch = Launch(now=datetime.now(UTC), resume=self.resume, machine=this_machine())
        return job, platform.plan(job, outputs, launch)

    def read(self) -> Job:
        """Return the job that they and the file spell.

        Raises:
            UsageError: The job is wrong.
        """
        from training.job import read_job

        values = {key: value for key, (value, _) in self.overrides().items()}
        job = read_job(self.job_file, values)
        if self.resume and job.spec.name is None:
            raise UsageError("--resume: say which job goes on, with --name or the spec's name")
        return job

    def overrides(self) -> dict[str, tuple[Any, str]]:
        """Return dotted keys of the spec that the command line sets: the value, and the option.

        Raises:
            UsageError: A `--set` cannot be read.
        """
        from training.job import parse_assignments

        flags = {
            "platform": (self.platform, "--platform"),
            "algorithm": (self.algorithm, "--algorithm"),
            "data_source": (self.data_source, "--data-source"),
            "instances.type": (self.instance_type, "--instance-type"),
            "instances.count": (self.instance_count, "--instance-count"),
            "name": (self.name, "--name"),
        }
        assigned = parse_assignments(self.assignments or [])
        return {key: (value, "--set") for key, value in assigned.items()} | {
            key: (str(value) if isinstance(value, StrEnum) else value, option)
            for key, (value, option) in flags.items()
            if value is not None
        }


def takes_job_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function that has `JobOptions` as its first parameter.

    Typer reads the parameters of a function: in the place of that one it sees the options.
    """
    types = get_type_hints(JobOptions, include_extras=True)
    of_job = [
        Parameter(
            each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=types[each.name]
        )
        for each in fields(JobOptions)
    ]
    _, *others = signature(command, eval_str=True).parameters.values()

    def told(**given: Any) -> None:
        options = JobOptions(**{each.name: given.pop(each.name) for each in of_job})
        command(options, **given)

    told.__signature__ = Signature([*of_job, *others])  # type: ignore[attr-defined]
    told.__name__, told.__doc__ = command.__name__, command.__doc__
    return told


def this_machine() -> Machine:
    """Return what a plan may know of this machine."""
    return Machine(
        python=Path(sys.executable),
        project=Path(__file__).resolve().parent.parent,
        working_directory=_working_directory(),
        cores=len(os.sched_getaffinity(0)),
        gpus=sum(path.name[6:].isdigit() for path in Path("/dev").glob("nvidia*")),
        environ=os.environ,
    )


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError(FOLDER_GONE) from error


def read_outputs(contracts: Sequence[type[Contract]], outputs_file: Path | None) -> Outputs:
    """Read stacks' outputs, from the file or from CloudFormation.

    Raises:
        UsageError: The file cannot be read.
        AwsError: CloudFormation refused or could not be reached.
    """
    from training.outputs import read_outputs_file

    if outputs_file is not None:
        return read_outputs_file(outputs_file)
    from training.aws.client import new_client, new_session
    from training.aws.cloudformation import read_outputs_from_cloudformation

    client = new_client(new_session(), "cloudformation")
    return read_outputs_from_cloudformation(client, [contract.STACK for contract in contracts])
