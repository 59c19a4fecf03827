"""`verify`: compare two copies."""

from __future__ import annotations

from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.options import JobsOption, find_places
from training.data.commands.show import show_line
from training.data.progress_display import show_progress
from training.errors import PreflightError


def verify(
    *,
    left: Annotated[str, typer.Argument(metavar="A", help="A folder or s3://bucket/prefix.")],
    right: Annotated[str, typer.Argument(metavar="B", help="The other copy.")],
    jobs: JobsOption = 8,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compare two copies and name each difference.

    Exit code 3 where there is one.
    """
    from training.aws.errors import translated
    from training.data.verify import bytes_to_compare
    from training.data.verify import verify as compare

    with translated():
        places = find_places(None, jobs)
        sides = places.named(left), places.named(right)
        listings = sides[0].files(), sides[1].files()
        with show_progress("Comparing", bytes_to_compare(*listings), "bytes") as progress:
            differences = compare(*sides, *listings, jobs=jobs, progress=progress)
    if output_format is Format.JSON:
        print_json([difference.to_json() for difference in differences])
    else:
        for found in differences:
            show_line(f"{found.kind}: {found.path!r} in {found.side}: {found.detail}")
        if not differences:
            show_line(f"no difference in {len(listings[0]):,} files")
    if differences:
        raise PreflightError(f"{len(differences):,} difference(s) between {left} and {right}")
