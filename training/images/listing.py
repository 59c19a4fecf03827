"""`python -m training.images list`: which images are built here, and which can be launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from training.cli import Format, FormatOption, log, print_json, result
from training.container_engine import BUILDERS, Engine, find_engine
from training.errors import PreflightError
from training.images.build import EngineOption
from training.images.destination import Registry, connect, read_registry
from training.images.image_id import image_id
from training.images.published import find
from training.images.recipes import RECIPES
from training.images.tag import image_tag, local_name
from training.job_options import OutputsFileOption

if TYPE_CHECKING:
    from training.aws.ecr import Ecr

_GIB = 1024**3


def list_images(
    outputs_file: OutputsFileOption = None,
    engine: EngineOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """List the images that these sources make.

    Which are built on this machine, which are pushed, and their size.
    """
    registry = read_registry(outputs_file)
    try:
        found: Engine | None = find_engine(engine, BUILDERS)
    except PreflightError as error:
        log.print(str(error))
        found = None
    rows = list(_rows(registry, found))
    if output is Format.JSON:
        print_json(rows)
        return
    result.print(_line("ALGORITHM", "VARIANT", "TAG", "BUILT HERE", "SIZE", "IN THE REGISTRY"))
    for row in rows:
        size = row["size_bytes"]
        result.print(
            _line(
                row["algorithm"],
                row["variant"],
                row["tag"],
                {True: "yes", False: "no", None: "?"}[row["built"]],
                f"{size / _GIB:.2f} GiB" if size else "-",
                row["image"] or "no",
            )
        )


def _line(*cells: str) -> str:
    widths = (12, 8, 21, 11, 10, 0)
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _rows(registry: Registry, engine: Engine | None) -> Iterator[dict[str, Any]]:
    clients: dict[str | None, Ecr] = {}
    for algorithm, recipe in RECIPES.items():
        destination = registry.destination(algorithm)
        if (region := destination.region) not in clients:
            clients[region] = connect(destination).ecr
        for variant in recipe.variants:
            tag = image_tag(algorithm, variant=variant)
            name = local_name(algorithm, variant=variant)
            there = find(clients[region], destination, tag)
            yield {
                "algorithm": algorithm,
                "variant": variant,
                "tag": tag,
                "built": None if engine is None else image_id(engine, name) is not None,
                "image": destination.pinned(there.digest) if there else None,
                "size_bytes": there.size_bytes if there else None,
            }
