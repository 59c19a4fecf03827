"""COCO evaluation against pycocotools: detections in memory to the 24 numbers.

python -m bench.evaluation [--runs N] [--pictures N] [--format json]

Truth and detections are made up, as many as val2017 has; both must find the same numbers.
"""

from __future__ import annotations

import gc
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from bench.evaluation_set import PICTURES, make_evaluation_set
from bench.reference_evaluation import open_truth, reference_numbers
from bench.timing import Command, Comparison, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed
from training.maskrcnn.coco_eval import mean_average_precision
from training.maskrcnn.data.coco import read_table
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles
from training.maskrcnn.found import Found

AT_MOST = 0.1
"""Of pycocotools' time."""
TOLERANCE = 1e-6
"""Of each number."""

R = TypeVar("R")

app = new_app(__doc__ or "")


@app.command()
def main(
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each.")] = 3,
    pictures: Annotated[
        int, typer.Option(min=1, help="Pictures of the set; everything else in proportion.")
    ] = PICTURES,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Measure; exit code 1 where the target is missed."""
    # pycocotools has not caught up with numpy 2.
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as scratch:
        comparison = measure(
            Path(scratch) / "instances.json", pictures=pictures, runs=runs, progress=log.print
        )
    if output_format is Format.JSON:
        print_json(report([comparison]))
    else:
        result.print(report_text([comparison]), markup=False)
    if not comparison.passed:
        raise JobFailed("the target was missed; run it again on an idle machine before you judge")


def measure(
    annotations: Path, *, pictures: int, runs: int, progress: Callable[[str], None]
) -> Comparison:
    """Time both in turn, from what each of them takes: a list, and the trainer's arrays.

    Raises:
        JobFailed: They do not find the same numbers.
    """
    progress(f"making {pictures} pictures with detections")
    detections = make_evaluation_set(annotations, pictures=pictures)
    truth = open_truth(annotations)
    table = read_table(annotations)
    records = Records.of(table, LooseFiles(annotations.parent))
    found = Found.from_coco(detections)
    base_s: list[float] = []
    subject_s: list[float] = []
    for number in range(1, runs + 1):
        theirs, took = _time(lambda: reference_numbers(truth, detections))
        base_s.append(took)
        ours, took = _time(lambda: mean_average_precision(records, table.categories, found))
        subject_s.append(took)
        _compare(list(ours.values()), theirs)
        progress(f"pair {number} of {runs}")
    label = f"{pictures} pictures, {len(table.labels)} objects, {len(found)} detections"
    return Comparison(
        Command(f"ours, {label}", ()),
        Command("pycocotools", ()),
        tuple(subject_s),
        tuple(base_s),
        AT_MOST,
    )


def _time(work: Callable[[], R]) -> tuple[R, float]:
    """Return the processor's seconds: others may use the machine as well."""
    gc.collect()
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


def _compare(ours: list[float], theirs: list[float]) -> None:
    worst = max(abs(mine - other) for mine, other in zip(ours, theirs, strict=True))
    if worst > TOLERANCE:
        raise JobFailed(f"a number is {worst} off from that of pycocotools")


if __name__ == "__main__":
    run(app)
