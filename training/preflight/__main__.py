"""`python -m training.preflight`: look before anything is made or spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import AwsError, PreflightError, UsageError
from training.job_options import JobOptions, takes_job_options

if TYPE_CHECKING:
    from training.preflight.report import Report

PROJECT = Path(__file__).resolve().parents[2]

app = new_app("Check before anything is made or spent.")


@app.command()
@takes_job_options
def preflight(
    options: JobOptions,
    *,
    stacks: Annotated[
        bool, typer.Option("--stacks", help="Check what cdk deploy would do, before it does it.")
    ] = False,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context", "-c", metavar="KEY=VALUE", help="A setting, as for cdk deploy; repeat it."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Look for this alone; repeat it.")
    ] = None,
    suppress: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Leave this out; repeat it.")
    ] = None,
    time_limit_s: Annotated[
        float, typer.Option(min=1, max=600, help="For each check, in seconds; all run at once.")
    ] = 30,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Check a job, or the settings of the stacks, against the AWS account; nothing is changed.

    A job is named as for training.launch, and planned the same way. With --stacks, settings are
    those of cdk.json and of -c, as for cdk deploy. Exit codes: 0 no error was found, 2 wrong usage
    or settings, 3 an error was found, 4 AWS cannot be reached, or answered no check.
    """
    _require_one(options, stacks=stacks, context=context or [])
    if stacks:
        report = _check_stacks(context or [], only or [], suppress or [], time_limit_s)
    else:
        report = _check_job(options, only or [], suppress or [], time_limit_s)
    if output_format is Format.JSON:
        print_json(report.to_json())
    else:
        _show(report)
    _judge(report, before="cdk deploy" if stacks else "the launch")


def _require_one(options: JobOptions, *, stacks: bool, context: list[str]) -> None:
    if stacks and options.say_something:
        raise UsageError("--stacks checks the settings of the stacks: give a job another time")
    if context and not stacks:
        raise UsageError(f"-c {context[0]}: a setting of the stacks is checked with --stacks")
    if not stacks and not options.say_something:
        raise UsageError(
            "say what to check: a job (JOB.yaml, or options as for training.launch), before it is "
            "launched; or --stacks, before a cdk deploy"
        )


def _check_stacks(
    assignments: list[str], only: list[str], suppress: list[str], time_limit_s: float
) -> Report:
    from training.aws.client import new_session
    from training.preflight.selection import Selection
    from training.preflight.stacks.context import read_context
    from training.preflight.stacks.registry import known_codes
    from training.preflight.stacks.report import check_stacks

    return check_stacks(
        read_context(PROJECT, Path.home(), assignments),
        new_session(),
        Selection.parse(only, suppress, known_codes()),
        time_limit_s=time_limit_s,
    )


def _check_job(
    options: JobOptions, only: list[str], suppress: list[str], time_limit_s: float
) -> Report:
    from training.preflight.job.report import check_job

    job, plan = options.plan()
    return check_job(job, plan, only=only, suppressed=suppress, time_limit_s=time_limit_s)


def _show(report: Report) -> None:
    from training.preflight.in_short import lines_of

    for line in lines_of(report.findings):
        result.print(line)
    if not report.findings:
        result.print("no findings")
    if report.account:
        log.print(f"{report.checks} checks of account {report.account} in {report.region}")


def _judge(report: Report, *, before: str) -> None:
    errors = sum(finding.severity == "error" for finding in report.findings)
    if errors:
        raise PreflightError(f"{errors} error(s) found: correct them before {before}")
    if report.is_silent:
        raise AwsError(
            f"no check could be made: AWS in {report.region} said who you are, and answered "
            "nothing else. "
            "Check the network and a proxy (HTTPS_PROXY), run the command again, or allow more "
            "with --time-limit-s"
        )


if __name__ == "__main__":
    run(app)
