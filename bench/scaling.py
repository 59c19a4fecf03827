"""What it costs two ranks to train together: step time against two processes on their own.

python -m bench.scaling [--model resnet50|light] [--batch N] [--runs N] [--steps N]
                         [--format json]

Both sides are the real command, `python -m training.maskrcnn.train`, with the same pictures a rank
and step, and run on the same two cores, each process on a core of its own: joined by `horovodrun`,
and as two unconnected processes at the same time. The sides take turns. Times are those of the
trainer's own lines in metrics.jsonl, without the first, in which caches are filled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, Any

import typer
import yaml

from bench.timing import Command, Comparison, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.data.shapes import ShapesSet, make_shapes
from training.errors import JobFailed, UsageError
from training.layout import LogChannel, TrainChannel
from training.platforms.local import CPU_CYCLE_MS

ROOT = Path(__file__).resolve().parent.parent
AT_MOST = 1.1
WINDOWS = 6
"""Lines of metrics of a run; the first is not counted."""
PICTURES = 64

app = new_app(__doc__ or "")


class Model(StrEnum):
    """What is trained."""

    LIGHT = "light"
    """The model, pictures and batch of jobs/demo-shapes.yaml."""
    RESNET50 = "resnet50"
    """ResNet-50 with the feature pyramid, pictures of 320 pixels."""


@dataclass(frozen=True)
class Case:
    """One comparison."""

    model: Model
    steps: int
    """Between two lines of metrics."""
    batch: int
    """Pictures of a rank in a step of resnet50."""

    @property
    def size(self) -> int:
        return 128 if self.model is Model.LIGHT else 320

    def hyperparameters(self, ranks: int) -> dict[str, Any]:
        chosen: dict[str, Any] = {
            "batch_norm": "GN",
            "backbone_weights": None,
            "image_short_sides": [320],
            "image_max_side": 320,
            "batch_size_per_gpu": self.batch,
            "precision": "fp32",
            "base_learning_rate": 1e-4,
            "num_workers": 0,
        }
        if self.model is Model.LIGHT:
            job = yaml.safe_load((ROOT / "jobs" / "demo-shapes.yaml").read_text(encoding="utf-8"))
            chosen = job["hyperparameters"]
        return {
            **chosen,
            "log_period": self.steps,
            "checkpoint_period": 10**6,
            "lr_epoch_schedule": [[1, None]],
            "images_per_epoch": self.steps * WINDOWS * ranks * chosen["batch_size_per_gpu"],
        }


@app.command()
def main(
    *,
    model: Annotated[Model, typer.Option(help="What is trained.")] = Model.RESNET50,
    batch: Annotated[
        int,
        typer.Option(min=1, help="Pictures a rank and step of resnet50; the trainer's default."),
    ] = 4,
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each side.")] = 5,
    steps: Annotated[
        int, typer.Option(min=0, help="Steps of each of six windows. 0: 25, or 4 of resnet50.")
    ] = 0,
    cycle_ms: Annotated[
        float, typer.Option(help="Horovod's cycle, in milliseconds; the launcher's by default.")
    ] = float(CPU_CYCLE_MS),
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Time steps of two ranks together and of two processes apart; exit code 1 above 1.1 times."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise UsageError("bench.scaling needs two cores")
    case = Case(model, steps or (25 if model is Model.LIGHT else 4), batch)
    with tempfile.TemporaryDirectory() as scratch:
        comparison = measure(case, Path(scratch), runs=runs, cores=cores, cycle_ms=cycle_ms)
    if output_format is Format.JSON:
        print_json(report([comparison]))
    else:
        result.print(report_text([comparison]))
    if not comparison.passed:
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def measure(
    case: Case, scratch: Path, *, runs: int, cores: Sequence[int], cycle_ms: float
) -> Comparison:
    """Return the seconds of a step on both sides, one figure a run."""
    data = TrainChannel(scratch / "data")
    make_shapes(data.root, ShapesSet(train=PICTURES, val=1, size=case.size))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HOROVOD_CYCLE_TIME": str(cycle_ms)}
    together_s: list[float] = []
    apart_s: list[float] = []
    for pair in range(runs):
        logs = [LogChannel(scratch / f"apart-{pair}-{core}") for core in cores]
        _run(
            [
                (*_on_cores(core), *_train(case, data, log, engine="torch", ranks=1))
                for core, log in zip(cores, logs, strict=True)
            ],
            environment,
        )
        apart_s.append(fmean(_step_s(log, ranks=1) for log in logs))
        log_together = LogChannel(scratch / f"together-{pair}")
        trainer = _train(case, data, log_together, engine="horovod", ranks=2)
        _run([(*_HOROVODRUN, *_on_cores(*cores), *trainer)], environment)
        together_s.append(_step_s(log_together, ranks=2))
        log.print(
            f"pair {pair + 1} of {runs}: a step takes {apart_s[-1]:.3f} s apart, "
            f"{together_s[-1]:.3f} s together"
        )
    return Comparison(
        Command(f"{case.model.value}, two ranks", ()),
        Command("two processes apart", ()),
        tuple(together_s),
        tuple(apart_s),
        AT_MOST,
    )


_HOROVODRUN = (
    str(Path(sys.executable).parent / "horovodrun"),
    *("-np", "2", "-H", "localhost:2", "--gloo", "--network-interfaces", "lo"),
)


def _on_cores(*cores: int) -> tuple[str, ...]:
    return (sys.executable, "-m", "bench.on_core", ",".join(map(str, cores)))


def _train(
    case: Case, data: TrainChannel, log_channel: LogChannel, *, engine: str, ranks: int
) -> tuple[str, ...]:
    log_channel.root.mkdir()
    file = log_channel.root / "given.json"
    file.write_text(json.dumps(case.hyperparameters(ranks)), encoding="utf-8")
    return (
        *(sys.executable, "-m", "training.maskrcnn.train", "--data", str(data.root)),
        *("--log-dir", str(log_channel.root), "--hyperparameters", str(file)),
        *("--engine", engine),
    )


def _run(commands: Sequence[tuple[str, ...]], environment: Mapping[str, str]) -> None:
    """Run commands at the same time, to their end."""
    processes = [
        subprocess.Popen(
            argv,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for argv in commands
    ]
    outputs = [process.communicate()[0] for process in processes]
    for process, output in zip(processes, outputs, strict=True):
        if process.returncode != 0:
            last = "\n".join(output.splitlines()[-5:])
            raise JobFailed(f"a run ended with exit code {process.returncode}:\n{last}")


def _step_s(log_channel: LogChannel, *, ranks: int) -> float:
    """Return the median seconds of a step, of the windows that count."""
    batch = json.loads((log_channel.root / "given.json").read_text())["batch_size_per_gpu"]
    lines = map(json.loads, log_channel.metrics.read_text(encoding="utf-8").splitlines())
    speeds = [line["values"]["images_per_second"] for line in lines if line["kind"] == "train"]
    return float(median(ranks * batch / speed for speed in speeds[1:]))


if __name__ == "__main__":
    run(app)
