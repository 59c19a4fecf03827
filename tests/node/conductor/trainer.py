"""The real trainer on the bench: the entry point, Horovod and pictures of shapes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.node.conductor.bench import ROOT, Bench
from tests.training.maskrcnn.tiny_job import TINY
from training.data.shapes import ShapesSet, make_shapes
from training.hyperparameter_text import to_texts
from training.maskrcnn.hyperparameters import read_hyperparameters

LIGHT: dict[str, Any] = {**TINY, "batch_size_per_gpu": 1, "images_per_epoch": None}


def install(bench: Bench) -> None:
    """Lay the nodes out as set-up does, and stage pictures."""
    home = bench.folder / "home"
    shutil.rmtree(home / "venv")
    (home / "entrypoint").unlink()
    (bench.efs / "data").rmdir()
    (home / "venv").symlink_to(Path(sys.executable).parents[1])
    (home / "src").symlink_to(ROOT)
    (home / "entrypoint").symlink_to(ROOT / "docker" / "entrypoint")
    (home / "adapter.py").symlink_to(ROOT / "docker" / "horovod" / "adapter.py")
    (home / "algorithm").write_text("horovod\n")
    make_shapes(bench.efs / "data", ShapesSet(train=20, val=4, size=64))


def hyperparameters(**changes: Any) -> dict[str, str]:
    return to_texts(read_hyperparameters({**LIGHT, **changes}, source="test"))


def steps(bench: Bench) -> list[tuple[int, float]]:
    """Return step and epoch of each step so far."""
    path = bench.run / "metrics.jsonl"
    whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
    lines = [json.loads(line) for line in whole.splitlines()]
    return [(line["step"], line["epoch"]) for line in lines if line["kind"] == "train"]


def size(bench: Bench, images_per_epoch: int) -> int:
    """Return the number of ranks of the last step, each of which takes one picture."""
    taken = steps(bench)[-2:]
    if len(taken) < 2:
        return 0
    return round((taken[1][1] - taken[0][1]) * images_per_epoch)
