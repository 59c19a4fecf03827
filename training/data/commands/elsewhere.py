"""What `stage` and `verify` share where they run somewhere else."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from training.cli import Format, print_json
from training.data.commands.show import show_line
from training.data.on.elsewhere import Elsewhere, On
from training.data.on.errand import MAX_RUN_S
from training.errors import UsageError

OnOption = Annotated[
    On, typer.Option(help="Where it runs: EFS and FSx are reached inside the VPC only.")
]
NameOption = Annotated[
    str | None, typer.Option(help="Of a run elsewhere; made from places and time by default.")
]
ImageOption = Annotated[
    str | None,
    typer.Option(help="What a run elsewhere runs; horovod's of RegistryStack by default."),
]
InstanceTypeOption = Annotated[
    str | None, typer.Option(help="Of --on sagemaker; ml.c5.4xlarge by default.")
]
MaxRunOption = Annotated[
    int, typer.Option(min=60, max=432_000, help="Seconds until a run elsewhere is stopped.")
]


def refuse_here(elsewhere: Elsewhere, *, dry_run: bool) -> None:
    """Refuse what is said of a run elsewhere, where it runs here.

    Raises:
        UsageError: Something is.
    """
    given = {
        "--name": elsewhere.name,
        "--image": elsewhere.image,
        "--instance-type": elsewhere.instance_type,
        # Its default is no wish.
        "--max-run-s": elsewhere.max_run_s if elsewhere.max_run_s != MAX_RUN_S else None,
        "--dry-run": dry_run or None,
    }
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option}: is for a run elsewhere: --on sagemaker, ec2 or eks")


def show_plan(planned: dict[str, Any], output_format: Format) -> None:
    """Print what would be sent to whom, and its cost."""
    if output_format is Format.JSON:
        print_json(planned)
        return
    # Only a launcher has it: in the image there is nothing to plan.
    for line in import_module("training.request_text").to_lines(planned):
        show_line(line)
