from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.report.conftest import Sample, evaluation_document
from training.layout import LogChannel
from training.report.class_differences import class_differences
from training.report.comparison import Run, read_runs
from training.report.comparison_page import render, to_json

MakeRuns = Callable[..., list[Run]]


@pytest.fixture
def make_runs(tmp_path: Path) -> MakeRuns:
    """Make a run of each given map of class to average precision; None has no evaluation."""

    def make(*runs: dict[str, float | None] | None, kinds: tuple[str, ...] = ("segm",)) -> Any:
        folders = []
        for number, averages in enumerate(runs, start=1):
            sample = Sample(LogChannel(tmp_path / f"run {number}"))
            sample.log.root.mkdir()
            sample.write_job(job_name=f"run {number}")
            folders.append(sample.log.root)
            if averages is None:
                continue
            # A class has another number in each data set.
            named = [{"id": 7 * number + at, "name": name} for at, name in enumerate(averages)]
            document = evaluation_document(named, [])
            for category, value in zip(document["categories"], averages.values(), strict=True):
                category["ap"] = {kind: {"IoU=0.5:0.95": value} for kind in kinds}
            document["curves"] = {kind: document["curves"][kind] for kind in kinds}
            sample.write_evaluation(**document)
        return read_runs(folders)

    return make


def test_the_largest_differences_come_first(make_runs: MakeRuns) -> None:
    runs = make_runs(
        {"cat": 0.5, "dog": 0.75, "cow": 0.25, "pig": 0.5},
        {"dog": 0.25, "cat": 0.625, "cow": 0.25, "hen": 0.5},
    )
    differences = class_differences(runs)
    assert differences is not None
    assert differences.kind == "masks"
    assert [(row.name, row.values, row.best) for row in differences.rows] == [
        ("dog", (0.75, 0.25), 0.75),
        ("cat", (0.5, 0.625), 0.625),
    ]


def test_runs_without_masks_are_compared_by_boxes(make_runs: MakeRuns) -> None:
    runs = make_runs({"cat": 0.5}, {"cat": 0.25}, kinds=("bbox",))
    differences = class_differences(runs)
    assert differences is not None
    assert (differences.kind, len(differences.rows)) == ("boxes", 1)


def test_a_run_without_evaluation_has_no_values(make_runs: MakeRuns) -> None:
    differences = class_differences(make_runs({"cat": 0.5, "dog": None}, None, {"cat": 0.25}))
    assert differences is not None
    assert [row.values for row in differences.rows] == [(0.5, None, 0.25)]


def test_one_evaluation_alone_does_not_differ(make_runs: MakeRuns) -> None:
    assert class_differences(make_runs({"cat": 0.5}, None)) is None


def test_page_and_json_have_them(make_runs: MakeRuns) -> None:
    runs = make_runs({"cat": 0.5, "dog": 0.5}, {"cat": 0.25, "dog": 0.5})
    page = render(runs, lambda _run: None)
    assert "Classes that differ" in page
    assert '<b>0.500</b><span class="unseen"> (best)</span>' in page
    assert to_json(runs, lambda _run: None)["classes"] == {"cat": [0.5, 0.25]}


def test_runs_that_do_not_differ_have_no_such_table(make_runs: MakeRuns) -> None:
    runs = make_runs({"cat": 0.5}, {"cat": 0.5})
    assert "Classes that differ" not in render(runs, lambda _run: None)
    assert to_json(runs, lambda _run: None)["classes"] == {}
