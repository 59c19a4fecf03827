"""What the commands about jobs need of a platform; one module for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Protocol, cast

import typer

from training.errors import UsageError
from training.jobs.info import JobInfo

_MODULES = {
    "sagemaker": "training.platforms.sagemaker.control",
    "ec2": "training.platforms.ec2.control",
    "eks": "training.platforms.eks.control",
}
"""Platform local has no place here: a job there ends with the command that runs it."""

NAMES = tuple(_MODULES)


class JobControl(Protocol):
    """What looks after a platform's jobs; its module's function `control` returns it."""

    def jobs(self, *, limit: int) -> Sequence[JobInfo]:
        """Return the jobs that were launched with this program, newest first.

        Raises:
            AwsError: They cannot be asked for.
        """

    def status(self, name: str) -> JobInfo:
        """Return how a job is doing.

        Raises:
            UsageError: There is no such job.
            AwsError: It cannot be asked for.
        """

    def show(self, name: str, line: Callable[[str], None]) -> None:
        """Show the lines that a job has written by now.

        Raises:
            UsageError: There is no such job.
            AwsError: They cannot be asked for.
        """

    def follow(self, name: str, line: Callable[[str], None]) -> None:
        """Show a job's lines until it has ended, and return where it completed.

        Raises:
            UsageError: There is no such job.
            JobFailed, JobCheckpointed, Interrupted: How it ended otherwise.
            AwsError: They cannot be asked for.
        """

    def conclude(self, name: str) -> None:
        """Return where a job that has ended completed; else say how it ended, as `follow` does.

        Raises:
            UsageError: There is no such job.
            JobFailed, JobCheckpointed, Interrupted: How it ended otherwise.
            AwsError: There were no machines for it; or it cannot be asked for.
        """

    def stop(self, name: str) -> JobInfo:
        """Ask a job to end; return how it is doing. A job that has ended stays as it is.

        Raises:
            UsageError: There is no such job.
            AwsError: It cannot be asked to.
        """


PlatformOption = Annotated[
    str, typer.Option("--platform", help=f"Where the jobs are: {', '.join(NAMES)}.")
]

OutputsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--outputs-file",
        help="Platforms ec2, eks: what cdk deploy --outputs-file wrote; CloudFormation by default.",
    ),
]

JobNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The job, as `list` has it.")]


def load(platform: str, outputs_file: Path | None = None) -> JobControl:
    """Return what looks after a platform's jobs.

    Args:
        outputs_file: Of the stacks; None asks CloudFormation where they are needed.

    Raises:
        UsageError: There is no such platform, or it has no such jobs; or the stacks' outputs are
            not there.
        AwsError: The outputs cannot be read.
    """
    if platform == "local":
        raise UsageError(
            "--platform local: its jobs end with the command that runs them, and write to their "
            "log folder"
        )
    if platform not in _MODULES:
        raise UsageError(f"--platform {platform}: is not one of {', '.join(NAMES)}")
    return cast(JobControl, import_module(_MODULES[platform]).control(outputs_file))
