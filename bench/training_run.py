"""One run of `bench.training_speed`, in a process of its own: ours or the reference's training.

python -m bench.training_run SETTINGS.json prints one line of JSON: what `Measured` has.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import torch

from training.layout import LogChannel, TrainChannel
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters

Side = Literal["ours", "reference"]
SPLIT = "train2017"
PROPORTION = 1333 / 800
"""Of the largest long side to the short side, as for COCO."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is run.

    Attributes:
        data: The train channel.
        weights: Both begin with this `model` of a file.
        size: Short side of the pictures, in pixels.
        steps: That are timed, after `warmup` others.
        threads: Of the process; the workers that load have one each.
        changes: Hyperparameters of ours that differ from the defaults.
    """

    side: Side
    precision: str
    data: str
    weights: str
    size: int
    batch_size: int
    steps: int
    warmup: int
    threads: int
    changes: dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What a run gave.

    Attributes:
        step_s: Seconds of each timed step, loading included.
        cpu_s: Of the process, its workers not counted, in the timed steps.
        loss: Of the first step.
    """

    step_s: list[float]
    cpu_s: float
    loss: float
    memory_mib: float


def our_hyperparameters(settings: Settings) -> Hyperparameters:
    """Return the defaults of ours, with the model, pictures and rates of the reference."""
    return read_hyperparameters(
        {
            "load_model": settings.weights,
            "trainable_backbone_layers": 3,
            "image_short_sides": [settings.size],
            "image_max_side": round(settings.size * PROPORTION),
            "batch_size_per_gpu": settings.batch_size,
            "precision": settings.precision,
            "base_learning_rate": 0.02,
            "reference_batch_size": 16,
            "warmup_steps": 1000,
            "warmup_factor": 0.001,
            "lr_epoch_schedule": [[1000, None]],
            "data_val": [SPLIT],
            "eval_period": 1000,
            "images_per_epoch": 10_000,
            **settings.changes,
        },
        source="bench",
    )


class _Enough(Exception):
    """The last step is timed."""


class _Clock:
    """Stands for SIGTERM, which the trainer looks for in every step: notes the time of each."""

    is_final = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.trainer: Any = None
        self.times: dict[int, tuple[float, float]] = {}

    @property
    def is_requested(self) -> bool:
        step = 0 if self.trainer is None else self.trainer.position.step
        self.times.setdefault(step, (time.perf_counter(), time.process_time()))
        if step >= self._settings.warmup + self._settings.steps:
            raise _Enough
        return False


def run_ours(settings: Settings) -> Measured:
    """Run the trainer itself, as one rank."""
    from training.maskrcnn.engines.torch_engine import TorchEngine
    from training.maskrcnn.trainer import Job, Trainer

    clock = _Clock(settings)
    hyperparameters = our_hyperparameters(settings).model_copy(update={"log_period": 1})
    with tempfile.TemporaryDirectory() as folder:
        log = LogChannel(Path(folder))
        job = Job(
            engine=TorchEngine(),
            hyperparameters=hyperparameters,
            data=TrainChannel(Path(settings.data)),
            log=log,
            stop=clock,
        )
        trainer = clock.trainer = Trainer(job)
        try:
            trainer.run()
        except _Enough:
            lines = map(json.loads, log.metrics.read_text(encoding="utf-8").splitlines())
            loss = next(line["values"]["total_loss"] for line in lines if line["kind"] == "train")
        finally:
            # What it still writes, it writes before the folder is gone.
            trainer.close()
    # The time of step n is noted as it begins, when its pictures are there.
    times = [clock.times[step] for step in range(settings.warmup, max(clock.times) + 1)]
    return _measured(times, loss)


def run_reference(settings: Settings) -> Measured:
    from bench.reference_data import ReferencePictures, reference_batches
    from bench.reference_loop import ReferenceTraining, reference_optimization
    from bench.reference_model import reference_like

    channel = TrainChannel(Path(settings.data))
    pictures = ReferencePictures(channel.images(SPLIT), channel.annotations(SPLIT))
    weights = torch.load(settings.weights)["model"]
    model = reference_like(
        our_hyperparameters(settings),
        weights,
        outputs=weights["roi_heads.box_predictor.cls_score.bias"].numel(),
    )
    training = ReferenceTraining(
        model,
        reference_optimization(model, batch_size=settings.batch_size),
        device=torch.device("cpu"),
        autocast=settings.precision == "bf16",
    )
    batches = reference_batches(pictures, settings.batch_size)
    times: list[tuple[float, float]] = []
    losses: list[float] = []
    while len(times) <= settings.warmup + settings.steps:
        batch = next(batches)
        times.append((time.perf_counter(), time.process_time()))
        if len(times) <= settings.warmup + settings.steps:
            losses.append(training.take(batch)["loss"])
    return _measured(times[settings.warmup :], losses[0])


def _measured(times: list[tuple[float, float]], loss: float) -> Measured:
    wall, cpu = zip(*times, strict=True)
    return Measured(
        step_s=[later - earlier for earlier, later in pairwise(wall)],
        cpu_s=cpu[-1] - cpu[0],
        loss=loss,
        memory_mib=_memory_mib(),
    )


def _memory_mib() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def main() -> None:
    settings = Settings(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    torch.manual_seed(0)
    torch.set_num_threads(settings.threads)
    run = run_ours if settings.side == "ours" else run_reference
    sys.stdout.write(json.dumps(asdict(run(settings))) + "\n")


if __name__ == "__main__":
    main()
