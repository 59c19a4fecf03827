"""Helm takes a null for "without the default": no key that has one may go away by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.charts.jupyter.asking import VALUES
from tests.charts.rendering import CHARTS, TRAINING, refusal, render, run
from tests.charts.test_cluster import MATRIX

LEAST: dict[str, dict[str, Any]] = {
    **{chart: {} for chart in (*TRAINING, "stage-data", "attach")},
    "maskrcnn-jupyter": VALUES,
    "maskrcnn-optimized-jupyter": VALUES,
    "cluster": MATRIX["all"],
}
"""Chart to the least values that it takes."""


def objects(values: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path of each map of values.yaml, the top first, and what is in it."""
    yield path, values
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from objects(value, f"{path}.{key}".removeprefix("."))


def defaults(chart: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((CHARTS / chart / "values.yaml").read_text("utf-8"))
    return read


def test_every_chart_is_here() -> None:
    there = {path.parent.name for path in CHARTS.glob("*/values.yaml")}

    assert there == set(LEAST)


@pytest.mark.parametrize(
    ("chart", "path", "keys"),
    [
        (chart, path, [key for key, value in values.items() if value is not None])
        for chart in LEAST
        for path, values in objects(defaults(chart))
    ],
)
def test_a_null_for_a_key_with_a_default_is_refused_by_the_schema(
    chart: str, path: str, keys: list[str]
) -> None:
    if not keys:
        return
    said = refusal(chart, LEAST[chart], *(f"{path}.{key}=null".removeprefix(".") for key in keys))

    [line] = [line for line in said.splitlines() if line.startswith("- at ")]
    at, _, missing = line.removeprefix("- at ").partition(": missing propert")
    assert at.strip("'") == (f"/{path.replace('.', '/')}" if path else "")
    assert sorted(re.findall(r"'([^']+)'", missing)) == sorted(keys)


@pytest.mark.parametrize("chart", LEAST)
def test_a_null_for_a_key_whose_default_it_is_changes_nothing(chart: str) -> None:
    nulls = [
        f"{path}.{key}=null".removeprefix(".")
        for path, values in objects(defaults(chart))
        for key, value in values.items()
        if value is None
    ]
    given = {**LEAST[chart], **({"job": {"log": "/fsx/log"}} if chart in TRAINING else {})}
    if nulls:
        assert render(chart, given, *nulls) == render(chart, given)


def test_helm_itself_refuses_to_be_without_the_library() -> None:
    done = run(["template", "job", "charts/maskrcnn", "--set", "library=null"])

    assert done.returncode != 0
    assert "type mismatch on library" in done.stderr
