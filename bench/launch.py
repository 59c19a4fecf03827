"""How long the launcher takes to answer, against the bare import of what it is built on.

python -m bench.launch [--runs N] [--format json] [--outputs-file F] [--job JOB.yaml]
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from bench.timing import Command, Comparison, RunFailed, compare, python, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed, UsageError
from training.outputs import CONTRACTS, output_key

ROOT = Path(__file__).resolve().parent.parent

BASE = Command("bare imports", python("-c", "import typer, rich.console, pydantic, yaml"))
HELP_AT_MOST = 2.0
DRY_RUN_AT_MOST = 3.0

# A dry run with findings prints its plan too and ends 3; the time is the same.
DRY_RUN_EXIT_CODES = (0, 3)

app = new_app(__doc__ or "")


@app.command()
def main(
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each command.")] = 15,
    job: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The job to plan; the first of jobs/."),
    ] = None,
    outputs_file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Stack outputs; made up by default."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Time --help and --dry-run of the launcher; exit code 1 where a target is missed."""
    job = job or first_job(ROOT / "jobs")
    try:
        with tempfile.TemporaryDirectory() as scratch:
            outputs = outputs_file or write_outputs(Path(scratch) / "outputs.json")
            comparisons = measure(job.resolve(), outputs.resolve(), runs)
    except RunFailed as error:
        raise JobFailed(str(error)) from error
    if output_format is Format.JSON:
        print_json(report(comparisons))
    else:
        result.print(report_text(comparisons))
    if not all(one.passed for one in comparisons):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def measure(job: Path, outputs: Path, runs: int) -> list[Comparison]:
    """Return the comparisons."""
    launch = ("-m", "training.launch")
    subjects = [
        (Command("launch --help", python(*launch, "--help")), HELP_AT_MOST),
        (
            Command(
                "launch --dry-run",
                python(*launch, str(job), "--dry-run", "--outputs-file", str(outputs)),
                DRY_RUN_EXIT_CODES,
            ),
            DRY_RUN_AT_MOST,
        ),
        (
            Command(
                "launch --platform sagemaker --dry-run",
                python(
                    *(*launch, "--platform", "sagemaker", "--data-source", "efs"),
                    *("--dry-run", "--outputs-file", str(outputs)),
                ),
                DRY_RUN_EXIT_CODES,
            ),
            DRY_RUN_AT_MOST,
        ),
    ]
    return [
        compare(subject, BASE, runs=runs, at_most=at_most, cwd=ROOT, progress=log.print)
        for subject, at_most in subjects
    ]


def first_job(folder: Path) -> Path:
    """Return the first job spec of a folder, by name.

    Raises:
        UsageError: There is none.
    """
    jobs = sorted(folder.glob("*.yaml"))
    if not jobs:
        raise UsageError(f"{folder}: no job spec (*.yaml) to plan; name one with --job")
    return jobs[0]


def write_outputs(path: Path) -> Path:
    """Write outputs of every stack, of the right form and of nothing that exists."""
    stacks = {
        contract.STACK: {output_key(field.name): _made_up(field.name) for field in fields(contract)}
        for contract in CONTRACTS
    }
    path.write_text(json.dumps(stacks), encoding="utf-8")
    return path


def _made_up(field_name: str) -> str:
    name = f"{field_name.replace('_', '-')}-0"
    return f"arn:aws:none:us-west-2:123456789012:{name}" if field_name.endswith("_arn") else name


if __name__ == "__main__":
    run(app)
