"""How fast pictures and annotations are read: against torchvision, shards against loose files, and
with annotations of the size of COCO's.

python -m bench.reading [--runs N] [--format json] [--without-scale]
"""

from __future__ import annotations

import json
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bench import annotation_memory, reading_shards, reading_speed
from bench.annotation_memory import Memory
from bench.coco_sized import write_coco_sized
from bench.timing import Comparison, RunFailed, output_of, python, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed
from training.layout import TrainChannel

ROOT = Path(__file__).resolve().parent.parent
COCO = TrainChannel(ROOT / "tests" / "data" / "coco")
ENLARGED = 6
"""Times as wide and high as COCO's pictures: 10 million pixels, as a camera takes them."""
SCALE_AT_MOST_S = 60
OPEN_AT_MOST_S = 0.5

app = new_app(__doc__ or "")


@dataclass(frozen=True)
class Scale:
    """What annotations of COCO's size take."""

    cpu_s: dict[str, float]
    open_s: float
    """From the file's name to its records."""
    memory: Memory

    @property
    def total_cpu_s(self) -> float:
        return sum(self.cpu_s.values())

    @property
    def passed(self) -> bool:
        return (
            self.memory.passed
            and self.total_cpu_s <= SCALE_AT_MOST_S
            and self.open_s <= OPEN_AT_MOST_S
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "cpu_s": self.cpu_s,
            "total_cpu_s": round(self.total_cpu_s, 2),
            "at_most_cpu_s": SCALE_AT_MOST_S,
            "open_s": round(self.open_s, 3),
            "at_most_open_s": OPEN_AT_MOST_S,
            "memory": self.memory.to_json(),
            "passed": self.passed,
        }

    def to_text(self) -> str:
        parts = ", ".join(f"{name} {taken:.1f} s" for name, taken in self.cpu_s.items())
        verdict = "" if self.passed else "  MISSED"
        return (
            f"  annotations of COCO's size: {parts}: {self.total_cpu_s:.1f} s of one core "
            f"(target: at most {SCALE_AT_MOST_S})\n"
            f"  opened again in {self.open_s:.3f} s (target: at most {OPEN_AT_MOST_S}){verdict}\n"
            f"{self.memory.to_text()}"
        )


@app.command()
def main(
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each.")] = 5,
    without_scale: Annotated[
        bool, typer.Option("--without-scale", help="Leave out what takes minutes: COCO's size.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Measure; exit code 1 where a target is missed."""
    # pycocotools has not caught up with numpy 2.
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            comparisons = compare(Path(scratch), runs)
            scale = None if without_scale else measure_scale(Path(scratch) / "scale")
    except RunFailed as error:
        raise JobFailed(str(error)) from error
    if output_format is Format.JSON:
        print_json({**report(comparisons), "scale": scale.to_json() if scale else None})
    else:
        result.print(report_text(comparisons), markup=False)
        if scale:
            result.print(f"\n{scale.to_text()}", markup=False)
    if not all(one.passed for one in comparisons) or (scale and not scale.passed):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def compare(scratch: Path, runs: int) -> list[Comparison]:
    """Return what is measured in pairs."""
    large = reading_speed.enlarge(COCO, TrainChannel(scratch / "large"), ENLARGED)
    cases = [
        reading_speed.Case("COCO at 800", COCO, 800, 1333),
        reading_speed.Case("COCO at 320", COCO, 320, 533),
        reading_speed.Case("10 megapixels at 800", large, 800, 1333),
    ]
    return [
        *(reading_speed.measure(case, runs=runs, progress=log.print) for case in cases),
        reading_shards.measure(scratch, runs=runs, progress=log.print),
    ]


def measure_scale(folder: Path) -> Scale:
    """Return what annotations of COCO's size take."""
    annotations = folder / "annotations" / "instances_train2017.json"
    annotations.parent.mkdir(parents=True)
    log.print("scale: writing annotations of COCO's size")
    write_coco_sized(annotations)
    small = annotations.with_name("small.json")
    write_coco_sized(small, pictures=3, annotations=9)
    tables = folder / "tables"
    log.print("scale: check, table, index and sampler")
    measured = json.loads(_run(python("-m", "bench.reading_scale", str(annotations), str(tables))))
    opening = [float(_run(python("-c", _OPEN, str(annotations), str(tables)))) for _ in range(5)]
    log.print("scale: memory")
    memory = annotation_memory.measure(annotations, tables, small)
    return Scale(measured["cpu_s"], sorted(opening)[2], memory)


_OPEN = """
import sys, time
from pathlib import Path
from training.maskrcnn.data.coco import open_table
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles
annotations, tables = map(Path, sys.argv[1:])
begin = time.perf_counter()
records = Records.of(open_table(annotations, beside=tables), LooseFiles(tables)).with_objects()
records[len(records) // 2].outlines()
print(time.perf_counter() - begin)
"""


def _run(command: tuple[str, ...]) -> str:
    return output_of(command, label=" ".join(command[1:3]), cwd=ROOT)


if __name__ == "__main__":
    run(app)
