"""`python recorded_rank.py ...`: a rank of the trainer that notes which pictures it takes.

RECORDED is a folder; each process appends to a file of its own there, for each step before it
takes it: the pictures seen before, rank, size, and the names of its pictures. STEP_S is how long a
step waits first, while there is a file `slow` in the folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.cli import run
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.step import Stepper
from training.maskrcnn.train import app
from training.maskrcnn.trainer import Trainer

FOLDER = Path(os.environ["RECORDED"])
STEP_S = float(os.environ.get("STEP_S", "0"))


def record() -> None:
    """Have every step of this process noted."""
    train_step, take = Trainer._train_step, Stepper.take
    begun: list[Any] = []

    def noted_step(self: Trainer, batches: Iterator[Batch]) -> Any:
        if (FOLDER / "slow").exists():
            time.sleep(STEP_S)
        begun[:] = [self.position.images, self._engine.rank, self._engine.size]
        return train_step(self, batches)

    def noted_take(self: Stepper, batches: Any, **given: Any) -> Any:
        names = [name for batch in batches for name in batch.names]
        with (FOLDER / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([*begun, names]) + "\n")
        return take(self, batches, **given)

    Trainer._train_step = noted_step  # type: ignore[method-assign]
    Stepper.take = noted_take  # type: ignore[method-assign]


if __name__ == "__main__":
    record()
    run(app)
