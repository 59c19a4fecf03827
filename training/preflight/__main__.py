"""`python -m training.preflight`: look before anything is made or spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import AwsError, PreflightError, UsageError

if TYPE_CHECKING:
    from training.preflight.stacks.report import Report

PROJECT = Path(__file__).resolve().parents[2]

app = new_app("Check before anything is made or spent.")


@app.command()
def preflight(
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
    """Check the settings of the stacks against the AWS account and region, changing nothing.

    Settings are those of cdk.json and of -c, as for cdk deploy. Exit codes: 0 no error was found,
    2 wrong usage or settings, 3 an error was found, 4 AWS cannot be reached, or answered no check.
    """
    if not stacks:
        raise UsageError(
            "say what to check: --stacks, before a cdk deploy. The checks of a job are shown by: "
            "python -m training.launch JOB.yaml --dry-run"
        )
    report = _check_stacks(context or [], only or [], suppress or [], time_limit_s)
    if output_format is Format.JSON:
        print_json(report.to_json())
    else:
        _show(report)
    errors = sum(finding.severity == "error" for finding in report.findings)
    if errors:
        raise PreflightError(f"{errors} error(s) found: correct them before cdk deploy")
    if report.is_silent:
        raise AwsError(
            f"no check could be made: AWS in {report.region} said who you are, and answered "
            "nothing else. "
            "Check the network and a proxy (HTTPS_PROXY), run the command again, or allow more "
            "with --time-limit-s"
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


def _show(report: Report) -> None:
    from training.preflight.in_short import lines_of

    for line in lines_of(report.findings):
        result.print(line)
    if not report.findings:
        result.print("no findings")
    if report.account:
        log.print(f"{report.checks} checks of account {report.account} in {report.region}")


if __name__ == "__main__":
    run(app)
