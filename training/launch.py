"""`python -m training.launch`: plan a job, show what it would do, and run exactly that."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training import platforms
from training.cli import Format, FormatOption, log, new_app, print_json, run
from training.errors import Interrupted, PreflightError, UsageError
from training.job_options import JobOptions, takes_job_options
from training.platforms.api import Plan
from training.stop_signals import terminated_as_interrupted

if TYPE_CHECKING:
    from training.job import Job
    from training.preflight.finding import Finding

app = new_app("Train Mask R-CNN where the stacks are.")


@app.command()
@takes_job_options
def launch(
    options: JobOptions,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and start nothing.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print each value of the job and where it is from; start nothing."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Start without asking.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Follow the job to its end; platform local always does.")
    ] = False,
    suppress: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="A finding that you know better about; repeat it."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Train Mask R-CNN where the stacks are: plan a job, check it, and run it.

    Exit codes: 0 done, 1 the job failed, 2 wrong usage, 3 a check found an error, 4 AWS refused,
    75 stopped with a checkpoint (run again with --resume), 130 interrupted.
    """
    if explain:
        _explain(options, output_format)
        return
    with terminated_as_interrupted():
        with _nothing_started():
            job, plan = options.plan()
            # A plan from a file needs nobody; where AWS has told the outputs, it can be asked more.
            offline = dry_run and options.outputs_file is not None
            checked = _find(job, plan, offline=offline, suppressed=suppress or [])
            if dry_run:
                _print_plan(plan, checked, output_format)
                _stop_on_errors(checked.findings)
                return
            _confirm(plan, checked, yes=yes)
        with _perhaps_started(plan):
            status = platforms.load(job.spec.platform).submit(job, plan, wait=wait)
    if output_format is Format.JSON:
        print_json({"job_name": plan.job_name, "status": status, **plan.request.to_json()})


def _explain(options: JobOptions, output_format: Format) -> None:
    from training.explanation import explain_job, show_explanation

    explained = explain_job(options)
    if output_format is Format.JSON:
        print_json([each.to_json() for each in explained])
        return
    from training.cli import result

    show_explanation(explained, result)


@dataclass(frozen=True)
class _Checked:
    """What the checks found of a plan."""

    findings: Sequence[Finding]
    suppressed: Sequence[str] = ()
    """Codes of others that the user has left out."""


def _find(job: Job, plan: Plan, *, offline: bool, suppressed: Sequence[str]) -> _Checked:
    if not suppressed:
        return _Checked(_all_findings(job, plan, offline=offline))
    from training.preflight.job.report import select

    # First, so that a code that is not known is told before anybody is asked.
    selection = select([], suppressed)
    found = _all_findings(job, plan, offline=offline)
    kept = selection.of_findings(found)
    return _Checked(kept, list(dict.fromkeys(each.code for each in found if each not in kept)))


def _all_findings(job: Job, plan: Plan, *, offline: bool) -> list[Finding]:
    from training.preflight import planned

    found = planned.find(job, plan, offline=offline)
    return [*found, *planned.not_asked(plan)] if offline else found


@contextmanager
def _nothing_started() -> Iterator[None]:
    """Say to who stops a launch before anything is sent that it left nothing."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted("nothing was started") from error


@contextmanager
def _perhaps_started(plan: Plan) -> Iterator[None]:
    """Say it where a platform that was stopped while it sends a job does not say more."""
    try:
        yield
    except KeyboardInterrupt as error:
        unknown = f"it is not known whether {plan.job_name} was started"
        if plan.platform != "local":
            unknown += (
                ". Before you launch it again, look: python -m training.jobs status "
                f"{plan.job_name} --platform {plan.platform}"
            )
        raise Interrupted(unknown) from error


def _confirm(plan: Plan, checked: _Checked, *, yes: bool) -> None:
    """Show the plan, ask whether to start it, and write the job down."""
    from training.plan_text import show_plan

    show_plan(plan, checked.findings, log, suppressed=checked.suppressed)
    _stop_on_errors(checked.findings)
    if not yes:
        _ask()
    from training.jobs.launched import remember

    remember(plan)


def _ask() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is there to confirm the plan; add --yes to start it")
    try:
        answer = typer.confirm("Start it?", err=True)
    except typer.Abort:
        # What comes next goes below the question.
        log.print()
        answer = False
    if not answer:
        raise Interrupted("nothing was started")


def _stop_on_errors(findings: Sequence[Finding]) -> None:
    # The plan, which is on the screen already, has their messages.
    codes = [finding.code for finding in findings if finding.severity == "error"]
    if codes:
        raise PreflightError(
            f"{len(codes)} check(s) failed, nothing was started (--suppress CODE leaves one out): "
            f"{', '.join(dict.fromkeys(codes))}"
        )


def _print_plan(plan: Plan, checked: _Checked, output_format: Format) -> None:
    if output_format is Format.JSON:
        print_json(plan_to_json(plan, checked.findings))
        return
    from training.cli import result
    from training.plan_text import show_plan

    show_plan(plan, checked.findings, result, suppressed=checked.suppressed)


def plan_to_json(plan: Plan, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the one object that `--dry-run --format json` prints."""
    return {
        "platform": plan.platform,
        "algorithm": plan.algorithm,
        "job_name": plan.job_name,
        "request": plan.request.to_json(),
        "before": [step.to_json() for step in plan.before],
        "learning_rates": plan.learning_rates and plan.learning_rates.to_json(),
        "findings": [finding.to_json() for finding in findings],
        "cost": plan.cost.to_json(),
    }


if __name__ == "__main__":
    run(app)
