"""`python -m training.launch`: plan a job, show what it would do, and run exactly that."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training import algorithms, platforms
from training.cli import Format, FormatOption, log, new_app, print_json, run
from training.errors import Interrupted, PreflightError, UsageError
from training.platforms.api import Launch, Machine, Plan

if TYPE_CHECKING:
    from training.job import Job
    from training.outputs import Contract, Outputs
    from training.preflight.finding import Finding

app = new_app("Train Mask R-CNN where the stacks are.")

PlatformName = StrEnum("PlatformName", platforms.NAMES)  # type: ignore[misc]
AlgorithmName = StrEnum("AlgorithmName", algorithms.NAMES)  # type: ignore[misc]
DataSourceName = StrEnum("DataSourceName", ["s3", "efs", "fsx"])


@app.command()
def launch(
    job_file: Annotated[
        Path | None, typer.Argument(metavar="[JOB.yaml]", help="The job spec; see jobs/.")
    ] = None,
    platform: Annotated[
        PlatformName | None, typer.Option(help="Where it runs; the spec's, or local.")
    ] = None,
    algorithm: Annotated[
        AlgorithmName | None, typer.Option(help="What trains; the spec's, or horovod.")
    ] = None,
    data_source: Annotated[
        DataSourceName | None, typer.Option(help="Where the channels are; the spec's, or s3.")
    ] = None,
    instance_type: Annotated[
        str | None, typer.Option(help="Machine; none for platform local.")
    ] = None,
    instance_count: Annotated[
        int | None, typer.Option(help="How many machines; the spec's, or 1.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The job's name; made from data source and time by default.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key, as hyperparameters.seed=1."),
    ] = None,
    outputs_file: Annotated[
        Path | None,
        typer.Option(help="What cdk deploy --outputs-file wrote; CloudFormation by default."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint of the named job.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and start nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
    wait: Annotated[  # noqa: ARG001  (every platform so far waits)
        bool, typer.Option("--wait", help="Follow the job to its end; platform local always does.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Train Mask R-CNN where the stacks are: plan a job, check it, and run it.

    Exit codes: 0 done, 1 the job failed, 2 wrong usage, 3 a check found an error, 4 AWS refused,
    75 stopped with a checkpoint (run again with --resume), 130 interrupted.
    """
    from training.job import parse_assignments, read_job

    flags = {
        "platform": platform,
        "algorithm": algorithm,
        "data_source": data_source,
        "instances.type": instance_type,
        "instances.count": instance_count,
        "name": name,
    }
    overrides = parse_assignments(assignments or []) | {
        key: str(value) if isinstance(value, StrEnum) else value
        for key, value in flags.items()
        if value is not None
    }
    job = read_job(job_file, overrides)
    if resume and job.spec.name is None:
        raise UsageError("--resume: say which job goes on, with --name or the spec's name")
    platform_module = platforms.load(job.spec.platform)
    plan = platform_module.plan(
        job,
        _read_outputs(platform_module.READS, outputs_file),
        Launch(now=datetime.now(UTC), resume=resume, machine=this_machine()),
    )
    findings = find_all(job, plan)
    if dry_run:
        _print_plan(plan, findings, output_format)
        _stop_on_errors(findings)
        return
    _start(job, plan, findings, yes=yes)
    if output_format is Format.JSON:
        print_json({"job_name": plan.job_name, "status": "completed", **plan.request.to_json()})


def find_all(job: Job, plan: Plan) -> list[Finding]:
    """Return what all checks of a plan found."""
    from training.preflight import budget

    return [
        *budget.find(plan.cost, job.spec.limits.max_usd),
        *platforms.load(job.spec.platform).check(job, plan),
    ]


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
        raise UsageError(
            "the folder that this was started in is gone; change to another"
        ) from error


def _read_outputs(contracts: Sequence[type[Contract]], outputs_file: Path | None) -> Outputs:
    from training.outputs import read_outputs_file

    if outputs_file is not None:
        return read_outputs_file(outputs_file)
    from training.aws.client import new_client, new_session
    from training.aws.cloudformation import read_outputs_from_cloudformation

    client = new_client(new_session(), "cloudformation")
    return read_outputs_from_cloudformation(client, [contract.STACK for contract in contracts])


def _start(job: Job, plan: Plan, findings: Sequence[Finding], *, yes: bool) -> None:
    from training.plan_text import show_plan

    show_plan(plan, findings, log)
    _stop_on_errors(findings)
    if not yes:
        _ask()
    platforms.load(job.spec.platform).submit(job, plan)


def _ask() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is there to confirm the plan; add --yes to start it")
    try:
        answer = typer.confirm("Start it?", err=True)
    except typer.Abort:
        answer = False
    if not answer:
        raise Interrupted("nothing was started")


def _stop_on_errors(findings: Sequence[Finding]) -> None:
    from training.preflight.finding import error_lines

    if lines := error_lines(findings):
        headline = f"{len(lines)} check(s) failed, nothing was started:"
        raise PreflightError("\n".join([headline, *lines]))


def _print_plan(plan: Plan, findings: Sequence[Finding], output_format: Format) -> None:
    if output_format is Format.JSON:
        print_json(plan_to_json(plan, findings))
        return
    from training.cli import result
    from training.plan_text import show_plan

    show_plan(plan, findings, result)


def plan_to_json(plan: Plan, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the one object that `--dry-run --format json` prints."""
    return {
        "platform": plan.platform,
        "algorithm": plan.algorithm,
        "job_name": plan.job_name,
        "request": plan.request.to_json(),
        "findings": [finding.to_json() for finding in findings],
        "cost": plan.cost.to_json(),
    }


if __name__ == "__main__":
    run(app)
