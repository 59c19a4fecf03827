"""Which files there are, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from . import helpers, jupyter, training
from .document import fill_in
from .key import Group
from .tables import tables
from .write import named_template, values_schema, values_yaml

CHARTS = Path(__file__).resolve().parent.parent
PAGE = CHARTS.parent / "docs" / "eks.md"


def groups_of_charts() -> dict[str, tuple[str, Sequence[Group]]]:
    """Return chart to its title and its values."""
    return {
        **{chart.name: (chart.title, training.groups(chart)) for chart in training.CHARTS},
        "stage-data": ("Copies data sets between S3, EFS and FSx, in the VPC", helpers.STAGE_DATA),
        jupyter.CHARTS[0]: ("Jupyter and TensorBoard beside the logs of a job", jupyter.VALUES),
        "attach": ("A shell with EFS and FSx for Lustre", helpers.ATTACH),
    }


def _gone() -> dict[str, str]:
    """Return each key that there is no more, by its path, and what to do instead."""
    return {
        f"{group.name}.{name}" if group.name else name: instead
        for _, groups in groups_of_charts().values()
        for group in groups
        for name, instead in group.gone.items()
    }


def files() -> dict[Path, str]:
    return dict(_files())


def _files() -> Iterator[tuple[Path, str]]:
    yield (
        CHARTS / "library" / "templates" / "_tables.tpl",
        named_template(
            "library.tables", "What each instance type and algorithm has.", tables(_gone())
        ),
    )
    for name, (title, groups) in groups_of_charts().items():
        yield CHARTS / name / "values.yaml", values_yaml(title, groups)
        yield CHARTS / name / "values.schema.json", values_schema(title, groups)
    if PAGE.exists():
        yield PAGE, fill_in(PAGE.read_text(encoding="utf-8"))
