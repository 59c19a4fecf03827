"""`python -m training.maskrcnn.replay`: the step that stopped a run, taken again to see why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import UsageError

if TYPE_CHECKING:
    from training.maskrcnn.suspects import Report

app = new_app(
    "Take the step again that stopped a run because a loss or a gradient was not finite, and say "
    "which picture, loss, layer and parameter it is."
)

SHOWN_PARAMETERS = 5
EPILOG = "Example: python -m training.maskrcnn.replay LOG_DIR/broken-batch-rank-0.pt --device cpu"


@app.command(epilog=EPILOG)
def replay(
    batch: Annotated[
        Path,
        typer.Argument(
            metavar="BATCH", help="broken-batch-rank-N.pt of the log channel: all that is needed."
        ),
    ],
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:N.  [default: cuda where there is one]")
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="fp32, bf16 or fp16.  [default: that of the run]")
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Take the step again: all pictures together, then each on its own.

    With another --precision it shows whether the arithmetic is the cause: what fails in fp16 and
    not in fp32 is too large for fp16. The exit code is 0 whatever is found.
    """
    if not batch.is_file():
        what = "a folder, not broken-batch-rank-N.pt" if batch.is_dir() else "no such file"
        raise UsageError(f"{batch}: {what}")
    # Here, so that --help and wrong usage do not wait for torch.
    from training.maskrcnn.broken_batch import read_broken_batch
    from training.maskrcnn.device import choose_device, choose_precision
    from training.maskrcnn.suspects import find_suspects

    chosen_device = choose_device(device)
    broken = read_broken_batch(batch)
    chosen_precision = choose_precision(precision, broken.hyperparameters, chosen_device)
    log.print(f"{batch}: {broken.problem}")
    report = find_suspects(broken, chosen_device, chosen_precision)
    if output_format is Format.JSON:
        print_json(asdict(report))
    else:
        for line in _lines(report):
            result.print(line)


def _lines(report: Report) -> list[str]:
    lines = [
        f"weights that are not finite: {', '.join(report.weights) or 'none'}",
        f"largest weight: {report.largest_weight} in {report.largest_weight_in}",
    ]
    for trial in (*report.together, *report.pictures):
        lines.append(f"{trial.name}: {'finite' if trial.is_finite else 'NOT FINITE'}")
        lines.append(f"    {trial.objects} objects; smallest side {trial.smallest_side} pixels")
        lines.append("    " + ", ".join(f"{name} {loss}" for name, loss in trial.losses.items()))
        lines.append(f"    norm of the gradient {trial.gradient_norm}")
        if trial.layer is not None:
            lines.append(f"    first layer with an output that is not finite: {trial.layer}")
        if trial.parameters:
            shown = ", ".join(trial.parameters[:SHOWN_PARAMETERS])
            lines.append(f"    {len(trial.parameters)} gradients are not finite: {shown}")
        if trial.operation is not None:
            lines.append(f"    first in the backward pass: {trial.operation}")
    return [*lines, report.verdict]


if __name__ == "__main__":
    run(app)
