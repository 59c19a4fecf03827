"""Memory stays as it is, however long a run is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.training.maskrcnn.held_memory import held_by
from training.layout import LogChannel, TrainChannel

ROOT = Path(__file__).parents[3]

SCRIPT = """
import itertools, json, os, sys
from pathlib import Path
import torch
from tests.training.maskrcnn.held_memory import held_by
from training.layout import TrainChannel
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.evaluate import evaluate
from training.maskrcnn.hyperparameters import read_hyperparameters
from training.maskrcnn.model.maskrcnn import build_model

hyperparameters = read_hyperparameters(json.loads(sys.argv[2]), source="test")
torch.set_num_threads(1)
engine = TorchEngine()
data = read_collection(TrainChannel(Path(sys.argv[1])), hyperparameters)
model = build_model(
    hyperparameters, categories=len(data.categories), sum_over_ranks=engine.sum
).to(engine.device)
batches = load_batches(data.train, hyperparameters, rank=0, size=1, local_size=1, position=0)
for _ in range(12):
    for _ in itertools.islice(batches, 5):
        pass
    evaluate(engine, model, data.val[0], hyperparameters, is_stop_requested=lambda: False)
    print(held_by(os.getpid()))
os._exit(0)
"""


def test_ten_evaluations_take_no_more_memory_workers_included(
    shapes: TrainChannel, tiny: Any
) -> None:
    hyperparameters = tiny(num_workers=2, score_threshold=0.0, data_val="train2017")
    values = hyperparameters.model_dump(mode="json", exclude={"lr_schedule"})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(shapes.root), json.dumps(values)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    used = [int(line) for line in done.stdout.split()]
    assert len(used) == 12
    # The first two fill the allocator's pools.
    assert max(used[2:]) <= 1.05 * used[1], used


STEPS = 2000
WINDOW = 250
"""Steps between the figures that are compared; each window has evaluations and checkpoints."""


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("workers", [0, 2])
def test_two_thousand_steps_take_no_more_memory_than_the_first_ones(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, workers: int
) -> None:
    hyperparameters = tiny(
        num_workers=workers,
        batch_size_per_gpu=2,
        images_per_epoch=2 * 100,
        lr_epoch_schedule=[[STEPS // 100, None]],
        # Every picture at many sizes: batches differ in shape all the time.
        image_short_sides=[32, 64],
        short_side_sampling="range",
        base_learning_rate=0.001,
    )
    samples = list(_train(shapes, LogChannel(tmp_path / "log"), hyperparameters))
    peaks = {
        begin * WINDOW: max(used for _, used in group)
        for begin, group in groupby(samples, key=lambda sample: sample[0] // WINDOW)
    }
    print({step: f"{used / 2**20:.0f} MiB" for step, used in peaks.items()})  # noqa: T201 (with -s)
    assert max(peaks) >= STEPS - WINDOW
    # The first window fills the allocators' pools and opens what is kept open.
    later = [used for step, used in peaks.items() if step >= WINDOW]
    assert max(later) <= 1.05 * later[0], peaks


def _train(data: TrainChannel, log: LogChannel, hyperparameters: Any) -> Iterator[tuple[int, int]]:
    """Run the trainer; give steps that are done, and bytes that it and its workers hold."""
    log.root.mkdir()
    file = log.root / "hyperparameters.json"
    file.write_text(hyperparameters.model_dump_json(exclude={"lr_schedule"}))
    rank = subprocess.Popen(
        [
            *(sys.executable, "-m", "training.maskrcnn.train", "--engine", "torch"),
            *("--data", str(data.root), "--log-dir", str(log.root)),
            *("--hyperparameters", str(file)),
        ],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=(log.root / "errors").open("w"),
    )
    try:
        while rank.poll() is None:
            with suppress(psutil.NoSuchProcess, OSError, IndexError, ValueError):
                used = held_by(rank.pid)
                last = log.metrics.read_text().splitlines()[-1]
                yield json.loads(last)["step"], used
            time.sleep(1)
    finally:
        rank.kill()
    assert rank.returncode == 0, (log.root / "errors").read_text()[-2000:]
