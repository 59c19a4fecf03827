"""`shapes`: make a synthetic set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.show import show_line
from training.data.progress_display import show_progress


def shapes(
    *,
    out: Annotated[Path, typer.Option(help="Folder of the set: absent or empty.")],
    train: Annotated[int, typer.Option(help="Pictures of train2017.")] = 2000,
    val: Annotated[int, typer.Option(help="Pictures of val2017.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    size: Annotated[int, typer.Option(help="Width and height of a picture, in pixels.")] = 128,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Make a COCO-format set of synthetic shapes."""
    from training.data.shapes import ShapesSet, make_shapes

    wanted = ShapesSet(train=train, val=val, seed=seed, size=size)
    with show_progress("Drawing shapes", train + val, "pictures") as progress:
        made = make_shapes(out, wanted, progress)
    if output_format is Format.JSON:
        print_json({"folder": str(out), "made": made, **wanted.record()})
        return
    state = "made" if made else "there already"
    show_line(f"{out}: {state}, {train:,} pictures to train and {val:,} to validate")
