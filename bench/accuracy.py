"""How accurate trained models are: on shapes over several seeds, and on real pictures by heart.

python -m bench.accuracy [--seeds N] [--only TEXT] [--format json]

On shapes, the light model of jobs/demo-shapes.yaml: ours in fp32 and in bf16, and torchvision's own
model of that shape in the reference's loop. On the real sample, jobs/demo-coco.yaml, which is
evaluated on the pictures that it was trained on. Each run is one rank in a process of its own.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import typer

from bench.timing import RunFailed, describe_here, output_of, python
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.data.shapes import ShapesSet, make_shapes
from training.errors import JobFailed
from training.layout import LogChannel
from training.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parent.parent
SHAPES_JOB = ROOT / "jobs" / "demo-shapes.yaml"
SAMPLE_JOB = ROOT / "jobs" / "demo-coco.yaml"
SAMPLE = ROOT / "tests" / "data" / "coco"
SEGM, SEGM_50 = "mAP(segm)/IoU=0.5:0.95", "mAP(segm)/IoU=0.5"
SAMPLE_AT_LEAST = 0.6
SPREADS = 2
"""A mean may be lower than the reference's by so many standard errors of their difference."""

app = new_app(__doc__ or "")


@dataclass(frozen=True)
class Variant:
    """One way to train on shapes."""

    label: str
    precision: str = "fp32"
    is_reference: bool = False


REFERENCE = Variant("reference, fp32", is_reference=True)
VARIANTS = (Variant("ours, fp32"), Variant("ours, bf16", precision="bf16"), REFERENCE)


@dataclass(frozen=True)
class Accuracy:
    """The runs of one variant, a value for each seed."""

    label: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def spread(self) -> float:
        """Standard deviation over the seeds; 0 for a single one."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    def is_no_worse_than(self, other: Accuracy) -> bool:
        """Whether the mean is as high, or lower by no more than chance explains."""
        error = sqrt(sum(one.spread**2 / len(one.values) for one in (self, other)))
        return self.mean >= other.mean - SPREADS * error


@app.command()
def main(
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each on shapes.")] = 3,
    only: Annotated[
        str, typer.Option(help="Only what has this in its name: ours, bf16, reference, sample.")
    ] = "",
    share: Annotated[
        float, typer.Option(min=0.01, max=1, help="Share of pictures and training, for a trial.")
    ] = 1.0,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Train and compare; exit code 1 where a target is missed."""
    try:
        with tempfile.TemporaryDirectory() as scratch:
            accuracies = list(measure(Path(scratch), seeds=seeds, only=only, share=share))
    except RunFailed as error:
        raise JobFailed(str(error)) from error
    problems = find_problems(accuracies)
    if output_format is Format.JSON:
        print_json({"machine": describe_here(), "runs": [_to_json(one) for one in accuracies]})
    else:
        result.print("\n".join(map(_to_text, accuracies)), markup=False)
    if problems:
        raise JobFailed("; ".join(problems))


def measure(folder: Path, *, seeds: int, only: str, share: float) -> Iterator[Accuracy]:
    """Run everything, one after the other.

    Raises:
        RunFailed: A run ended in an error.
    """
    variants = [variant for variant in VARIANTS if only in variant.label]
    if variants:
        whole = ShapesSet()
        fewer = replace(whole, train=_part(whole.train, share), val=_part(whole.val, share))
        make_shapes(folder / "shapes", fewer)
    for variant in variants:
        train = _train_reference if variant.is_reference else _train_ours
        values = []
        for seed in range(seeds):
            changes = {"seed": seed, "precision": variant.precision}
            settings = one_rank(SHAPES_JOB, share=share, **changes)
            where = folder / f"{variant.label}-{seed}"
            values.append(train(settings, folder / "shapes", where)[SEGM])
            log.print(f"{variant.label}, seed {seed}: {values[-1]:.3f}")
        yield Accuracy(variant.label, tuple(values))
    if only in "sample":
        metrics = _train_ours(one_rank(SAMPLE_JOB, share=share), SAMPLE, folder / "sample")
        yield Accuracy("sample", (metrics[SEGM_50],))


def find_problems(accuracies: list[Accuracy]) -> list[str]:
    """Return the targets that were missed."""
    found = {one.label: one for one in accuracies}
    problems = []
    reference = found.get(REFERENCE.label)
    for label, one in found.items():
        if label == "sample" and one.mean < SAMPLE_AT_LEAST:
            problems.append(f"{SEGM_50} on the sample {one.mean:.3f}, at least {SAMPLE_AT_LEAST}")
        elif label != "sample" and reference and not one.is_no_worse_than(reference):
            problems.append(f"{label} {one.mean:.3f} is worse than {reference.mean:.3f}")
    return problems


def one_rank(job: Path, *, share: float = 1.0, **changes: Any) -> dict[str, Any]:
    """Return a job's hyperparameters for one rank, with the same pictures in each step."""
    spec = read_yaml(job.read_text(encoding="utf-8"), source=str(job))
    values = dict(spec["hyperparameters"])
    ranks = spec["instances"]["processes_per_instance"]
    values["batch_size_per_gpu"] *= ranks
    values["images_per_epoch"] = _part(values["images_per_epoch"], share)
    return {**values, **changes}


def _part(number: int, share: float) -> int:
    return max(1, round(number * share))


def _train_ours(settings: dict[str, Any], data: Path, where: Path) -> dict[str, float]:
    path = _write(settings, where)
    channel = LogChannel(where / "log")
    options = ["--engine", "torch", "--data", str(data), "--log-dir", str(channel.root)]
    _run(
        python("-m", "training.maskrcnn.train", *options, "--hyperparameters", str(path)),
        where.name,
    )
    lines = map(json.loads, channel.metrics.read_text(encoding="utf-8").splitlines())
    metrics: dict[str, float] = [line["values"] for line in lines if line["kind"] == "evaluation"][
        -1
    ]
    return metrics


def _train_reference(settings: dict[str, Any], data: Path, where: Path) -> dict[str, float]:
    path = _write(settings, where)
    output = _run(python("-m", "bench.accuracy_reference", str(path), str(data)), where.name)
    metrics: dict[str, float] = json.loads(output.splitlines()[-1])
    return metrics


def _write(settings: dict[str, Any], where: Path) -> Path:
    where.mkdir(parents=True)
    path = where / "hyperparameters.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def _run(command: tuple[str, ...], label: str) -> str:
    threads = os.environ.get("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    return output_of(command, label=label, cwd=ROOT, variables={"OMP_NUM_THREADS": threads})


def _to_json(one: Accuracy) -> dict[str, Any]:
    return {
        "label": one.label,
        "values": [round(value, 4) for value in one.values],
        "mean": round(one.mean, 4),
        "spread": round(one.spread, 4),
    }


def _to_text(one: Accuracy) -> str:
    values = ", ".join(f"{value:.3f}" for value in one.values)
    what = SEGM_50 if one.label == "sample" else SEGM
    return f"  {one.label:<16} {what}: mean {one.mean:.3f}, spread {one.spread:.3f} ({values})"


if __name__ == "__main__":
    run(app)
