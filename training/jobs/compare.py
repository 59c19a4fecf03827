"""`compare`: two or more runs beside each other, as a page and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.errors import UsageError
from training.jobs.report import check_log
from training.layout import LogChannel
from training.prices.cache import price_cache
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING
from training.prices.table import Unknown, find_price

if TYPE_CHECKING:
    from training.report.comparison import Run

_SERVICES = {"sagemaker": SAGEMAKER_TRAINING, "ec2": EC2_ON_DEMAND, "eks": EC2_ON_DEMAND}
"""Whose prices a platform's machines have."""

_DEFAULT = Path("compare.html")

_PAGE = b"<!doctype html"
"""How a page begins."""


def compare(
    jobs: Annotated[
        list[Path], typer.Argument(metavar="LOG_DIR LOG_DIR...", help="Log channels, as folders.")
    ],
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", help="The page to write.")
    ] = _DEFAULT,
    region: Annotated[
        str | None,
        typer.Option(help="Where the machines ran: prices on demand there are counted."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compare runs: settings, curves, mAP, time and price.

    Writes a page and prints its path; with --format json prints the figures instead.
    """
    from training.report import comparison, comparison_page, write_page

    _check(jobs, comparison.MOST_RUNS)
    if output_format is Format.TEXT:
        _check_output(output)
    runs = comparison.read_runs(jobs)
    price, notes = _price(runs, region)
    if output_format is Format.JSON:
        print_json(comparison_page.to_json(runs, price))
        return
    write_page(output, comparison_page.render(runs, price, notes=notes))
    typer.echo(output)


def _check(folders: Sequence[Path], most: int) -> None:
    if not 2 <= len(folders) <= most:
        raise UsageError(f"LOG_DIR: {len(folders)} given; 2 to {most} runs can be compared")
    for folder in folders:
        check_log(LogChannel(folder))
    seen: dict[Path, Path] = {}
    for folder in folders:
        if seen.setdefault(folder.resolve(), folder) is not folder:
            raise UsageError(f"{folder}: is named twice")


def _check_output(output: Path) -> None:
    if output.is_dir() or not output.resolve().parent.is_dir():
        raise UsageError(f"--output {output}: must be a file, in a folder that is there")
    # Such as a log that was meant to be compared.
    if output.is_file() and _beginning(output) not in (b"", _PAGE):
        raise UsageError(f"--output {output}: is there, and is no page; name another file")


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_PAGE)).lower()
    except OSError as error:
        raise UsageError(f"--output {file}: cannot be read ({error.strerror})") from error


def _price(
    runs: Sequence[Run], region: str | None
) -> tuple[Callable[[Run], float | None], list[str]]:
    """Return what tells a run's price, and what to know about prices."""
    if region is None:
        return lambda _run: None, ["Prices are left out: --region says where the machines ran."]
    cache, unknown, said = price_cache(os.environ), {}, {}
    prices: dict[str, float] = {}
    for run in runs:
        kind = run.instance_type
        service = _SERVICES.get(run.platform or "")
        if kind is None or service is None:
            unknown[run.name] = f"{run.name}: no price, since it ran on no machine of AWS's"
            continue
        price = find_price(service, region, kind, cache=cache)
        if isinstance(price, Unknown):
            unknown[run.name] = f"{run.name}: {price.why}"
            continue
        prices[run.name] = price.usd_per_hour
        said[kind] = (
            f"{kind}: {price.usd_per_hour:.10g} USD an hour on demand, {region}, {price.of.as_of}"
        )
    notes = [*said.values(), *unknown.values()]
    if said:
        notes.append("A price is that of the hours from a run's first line to its last one.")

    def price_of(run: Run) -> float | None:
        hours = run.instance_hours
        return None if hours is None or run.name not in prices else hours * prices[run.name]

    return price_of, notes
