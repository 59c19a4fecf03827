"""Runs beside each other: results, settings, and who was best."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.training.report.conftest import Browser, Sample
from training.errors import UsageError
from training.jobs.__main__ import app
from training.layout import LogChannel
from training.report.comparison import Measure, Run, differing_settings, measures, read_runs
from training.report.comparison_page import render, to_json

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Make a run's log channel; hyperparameters as given, `job` changes job.json."""

    def make(
        name: str, *, steps: int = 40, job: dict[str, Any] | None = None, **given: Any
    ) -> Path:
        root = tmp_path / name
        root.mkdir()
        sample = Sample(LogChannel(root))
        sample.write_job(**{"job_name": name} | (job or {}))
        sample.write_metrics(steps)
        sample.log.hyperparameters.write_text(json.dumps(given), encoding="utf-8")
        return root

    return make


def no_price(_run: Run) -> None:
    return None


def measured(runs: list[Run], name: str) -> Measure:
    (found,) = [each for each in measures(runs, no_price) if each.name == name]
    return found


def test_settings_that_differ_are_named_with_each_runs_value(make_run: MakeRun) -> None:
    runs = read_runs(
        [
            make_run("one", seed=1, precision="fp32", schedule={"steps": [1, 2]}),
            make_run("two", seed=1, precision="bf16", job={"world_size": 8}),
        ]
    )
    assert differing_settings(runs) == {
        "hyperparameters.precision": ("fp32", "bf16"),
        "hyperparameters.schedule.steps": ("[1, 2]", None),
        "world_size": ("2", "8"),
    }


def test_the_best_of_each_result_is_told_where_one_can_be_better(make_run: MakeRun) -> None:
    one, two = make_run("one"), make_run("two")
    with (one / "metrics.jsonl").open("a", encoding="utf-8") as file:
        values = {"mAP(segm)/IoU=0.5:0.95": 0.75, "mAP(bbox)/IoU=0.5": -1.0}
        file.write(Sample.evaluation_line(50, **values) + "\n")
    runs = read_runs([two, one])
    best = measured(runs, "mAP(segm)/IoU=0.5:0.95")
    assert (best.values, best.texts, best.best) == ((0.6, 0.75), ("0.600", "0.750"), 1)
    # The data have no such object: no result, and no worse one.
    assert measured(runs, "mAP(bbox)/IoU=0.5").values == (0.7, None)
    assert measured(runs, "mAP(bbox)/IoU=0.5").best is None
    assert measured(runs, "Loss, last").best is None
    assert measured(runs, "Throughput, img/s").best is None, "both are the same"


def test_a_run_that_was_cut_short_is_not_the_fastest(make_run: MakeRun) -> None:
    folders = [make_run("cut", steps=20), make_run("slow", steps=60), make_run("quick", steps=40)]
    for folder in folders[1:]:
        Sample(LogChannel(folder)).write_outcome("completed", 40)
    time = measured(read_runs(folders), "Time")
    assert time.values == (15.0, 55.0, 35.0)
    assert time.best == 2


def test_runs_of_one_name_are_told_apart_by_their_folders(make_run: MakeRun) -> None:
    same = {"job_name": "trial"}
    runs = read_runs([make_run("a", job=same), make_run("b", job=same)])
    assert [run.name for run in runs] == ["a", "b"]


def test_a_run_without_a_file_takes_part_and_keeps_its_colour(
    make_run: MakeRun, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "rank-0.log").write_text("began\n", encoding="utf-8")
    runs = read_runs([empty, make_run("two")])
    page = render(runs, no_price)
    assert 'class="line s1"' in page
    assert 'class="line s0"' not in page
    assert measured(runs, "Steps").values == (None, 40)


def test_json_has_all_by_run(make_run: MakeRun) -> None:
    runs = read_runs([make_run("one", seed=1), make_run("two", seed=2)])
    told = to_json(runs, lambda run: {"one": 2.5, "two": 1.5}[run.name])
    assert told["runs"] == ["one", "two"]
    assert told["status"] == [None, None]
    assert told["results"]["Price, USD"] == [2.5, 1.5]
    assert told["settings"] == {"hyperparameters.seed": ["1", "2"]}
    assert "Price, USD" not in told["best"], "neither has run to its end"


def test_what_a_user_wrote_is_no_markup(make_run: MakeRun) -> None:
    page = render(read_runs([make_run("one", note="<b>x</b>"), make_run("two")]), no_price)
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_fits_every_width_and_asks_for_nothing(
    width: int, browser: Browser, make_run: MakeRun, tmp_path: Path
) -> None:
    folders = [make_run("one", seed=1, path="/a/long" * 40), make_run("two", seed=2)]
    page = tmp_path / "compare.html"
    page.write_text(render(read_runs(folders), no_price), encoding="utf-8")
    browser.open(page, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.title") == "2 runs compared"
    requests = [e for e in browser.events if e["method"] == "Network.requestWillBeSent"]
    urls = [event["params"]["request"]["url"] for event in requests]
    assert [url for url in urls if not url.startswith(("file:", "data:"))] == []


def compare(*arguments: object) -> tuple[int, str, Exception | None]:
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    error = done.exception if isinstance(done.exception, UsageError) else None
    return done.exit_code, done.stdout, error


def test_the_command_writes_the_page_and_prices_machines_of_a_region(
    make_run: MakeRun, tmp_path: Path
) -> None:
    request = {"instance_type": "ml.c5.xlarge", "hosts": ["a", "b"]}
    job = {"platform": "sagemaker", "request": request}
    folders = [make_run("one", job=job), make_run("two")]
    page = tmp_path / "both.html"
    code, printed, _ = compare(*folders, "--output", page, "--region", "ap-south-1")
    assert (code, printed.strip()) == (0, str(page))
    text = page.read_text(encoding="utf-8")
    assert "ml.c5.xlarge: 0.204 USD an hour on demand, ap-south-1" in text
    assert "two: no price, since it ran on no machine of AWS" in text
    _, printed, _ = compare(*folders, "--format", "json", "--region", "ap-south-1")
    # 35 s of two machines.
    (price, none) = json.loads(printed)["results"]["Price, USD"]
    assert price == pytest.approx(0.204 * 2 * 35 / 3600)
    assert none is None


def test_wrong_usage_is_told(make_run: MakeRun, tmp_path: Path) -> None:
    one = make_run("one")
    for arguments, said in [
        ([one], "1 given; 2 to 8 runs can be compared"),
        ([one, one / "." / ".." / "one"], "is named twice"),
        ([one, tmp_path / "none"], "no such folder"),
        ([one, tmp_path], "not a job's log channel"),
    ]:
        code, _, error = compare(*arguments)
        assert code != 0
        assert said in str(error)


def test_only_a_page_is_written_over(make_run: MakeRun, tmp_path: Path) -> None:
    one, two, page = make_run("one"), make_run("two"), tmp_path / "page.html"
    metrics = LogChannel(one).metrics
    before = metrics.read_bytes()
    for output, said in [
        (metrics, "is there, and is no page; name another file"),
        (tmp_path, "must be a file, in a folder that is there"),
        ("", "must be a file, in a folder that is there"),
        (tmp_path / "no" / "page.html", "must be a file, in a folder that is there"),
    ]:
        _, _, error = compare(one, two, "--output", output)
        assert str(error).endswith(said)
    assert metrics.read_bytes() == before
    page.touch()
    for _ in range(2):
        assert compare(one, two, "--output", page)[0] == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_text_that_is_no_text_stops_no_page(make_run: MakeRun, tmp_path: Path) -> None:
    odd = [make_run("one", weights="\ud800"), make_run("two", weights="w")]
    page = tmp_path / "page.html"
    assert compare(*odd, "--output", page)[0] == 0
    assert "\\ud800" in page.read_text(encoding="utf-8")
