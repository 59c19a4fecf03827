"""Memory stays as it is, however long a run is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from training.layout import TrainChannel

ROOT = Path(__file__).parents[3]

SCRIPT = """
import gc, itertools, json, os, sys
from pathlib import Path
import psutil, torch
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
    own = psutil.Process()
    print(sum(p.memory_full_info().uss for p in [own, *own.children(recursive=True)]))
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
    # Of each process what it alone holds; the first two fill the allocator's pools.
    assert max(used[2:]) <= 1.05 * used[1], used
