"""How long a synth of all stacks takes, cdk-nag included, against a bare CDK app.

python -m bench.synth [--runs N] [--format json]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from bench.timing import Command, RunFailed, compare, python, report, report_text
from stacks import NODE_SILENCE
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed
from training.outputs import CONTRACTS

ROOT = Path(__file__).resolve().parent.parent
AT_MOST = 2.0

BARE_APP = """
import aws_cdk as cdk

app = cdk.App({options})
for name in {names}:
    cdk.Stack(app, name)
app.synth()
"""

app = new_app(__doc__ or "")


@app.command()
def main(
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each app.")] = 7,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Time `python app.py`; exit code 1 where it takes too long.

    The first base is an app as CDK makes it. The second has CDK's own template checks off, as
    app.py has; that ratio tells what our stacks cost, and has no target.
    """
    ours = Command("app.py", python("app.py"))
    bases = [
        (Command("bare app", python("-c", bare_app())), AT_MOST),
        (
            Command(
                "bare app, checks off",
                python("-c", bare_app("builtin_cloud_formation_validation=False")),
            ),
            None,
        ),
    ]
    try:
        with tempfile.TemporaryDirectory() as assembly:
            comparisons = [
                compare(
                    ours,
                    base,
                    runs=runs,
                    at_most=at_most,
                    cwd=ROOT,
                    env={**NODE_SILENCE, "CDK_OUTDIR": assembly},
                    progress=log.print,
                )
                for base, at_most in bases
            ]
    except RunFailed as error:
        raise JobFailed(str(error)) from error
    if output_format is Format.JSON:
        print_json(report(comparisons))
    else:
        result.print(report_text(comparisons))
    if not all(one.passed for one in comparisons):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def bare_app(options: str = "") -> str:
    """Return the source of an app with as many stacks as ours has, all empty."""
    return BARE_APP.format(options=options, names=[contract.STACK for contract in CONTRACTS])


if __name__ == "__main__":
    run(app)
