"""What one of two ranks does for test_engines.py: prints a line of JSON that starts with RESULT."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from training.errors import UsageError
from training.maskrcnn.engines import engine as engine_module
from training.maskrcnn.engines import start_engine
from training.maskrcnn.engines.engine import Engine

SENT: list[torch.dtype] = []
"""The type of each message of gradients."""


class Twin(nn.Module):
    """Two layers; the second gets no samples on ranks that say so."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2, bias=False)
        self.second = nn.Linear(2, 1, bias=False)
        for layer in (self.first, self.second):
            nn.init.ones_(layer.weight)

    def forward(self, inputs: Tensor, samples: int) -> Tensor:
        hidden = self.first(inputs)
        return hidden.sum() + self.second(hidden[:samples]).sum()


def build(engine: Engine, **options: Any) -> tuple[nn.Module, Twin, Optimizer]:
    twin = Twin()
    model, optimizer = engine.wrap(twin, SGD(twin.parameters(), lr=0.0), **options)
    return model, twin, optimizer


def inputs(engine: Engine, scale: float = 1.0) -> Tensor:
    """(2, 3); of rank 1 ten times those of rank 0."""
    return torch.arange(6.0).reshape(2, 3) * scale * (1 + 9 * engine.rank)


def gradients(twin: Twin) -> dict[str, Any]:
    return {
        name: p.grad.tolist() if p.grad is not None else None for name, p in twin.named_parameters()
    }


def summed(engine: Engine, samples: int, **options: Any) -> dict[str, Any]:
    model, twin, optimizer = build(engine, **options)
    SENT.clear()
    model(inputs(engine), samples).backward()
    with engine.summed_gradients(optimizer):
        optimizer.step()
    return {**gradients(twin), "sent": sorted({str(kind) for kind in SENT})}


def accumulated(engine: Engine) -> dict[str, Any]:
    """Two passes in each of two steps: gradients travel once a step."""
    model, twin, optimizer = build(engine, passes=2)
    found: dict[str, Any] = {}
    for step in (1, 2):
        optimizer.zero_grad()
        SENT.clear()
        with engine.local_gradients(model):
            model(inputs(engine), 2).backward()
        sent_in_first_pass = len(SENT)
        model(inputs(engine, scale=2.0), 2).backward()
        with engine.summed_gradients(optimizer):
            optimizer.step()
        found[f"step {step}"] = [gradients(twin), sent_in_first_pass, len(SENT)]
    return found


def bf16(engine: Engine) -> Any:
    try:
        return summed(engine, 2, compression="bf16")
    except UsageError as error:
        return str(error)


def messages(engine: Engine) -> dict[str, Any]:
    engine_module.PART_BYTES = 1000
    value = {"rank": engine.rank, "long": torch.arange(5000 * engine.rank), "none": None}
    gathered = engine.gather(value)
    total = engine.sum(torch.tensor([1.5, engine.rank], dtype=torch.float64))
    from_1 = engine.broadcast("hello" if engine.rank == 1 else None, root=1)
    return {
        "gathered": [(v["rank"], len(v["long"]), int(v["long"].sum())) for v in gathered],
        "sum": total.tolist(),
        "broadcast": [engine.broadcast([engine.rank, "x"]), from_1],
    }


def begun_sums(engine: Engine) -> dict[str, Any]:
    """Two sums under way at once. Rank 1 comes when rank 0 has begun both: it did not wait."""
    both_begun = Path(tempfile.gettempdir()) / f"begun-{os.getppid()}"
    values = torch.tensor([1.0 + engine.rank]), torch.tensor([10.0, 20 * engine.rank])
    if engine.rank == 1:
        until = time.monotonic() + 30
        while not both_begun.exists() and time.monotonic() < until:
            time.sleep(0.01)
    in_time = engine.rank == 0 or both_begun.exists()
    first, second = (engine.begin_sum(one, f"sum of {len(one)}") for one in values)
    if engine.rank == 0:
        both_begun.touch()
    sums = [second().tolist(), first().tolist()]
    both_begun.unlink(missing_ok=True)
    return {"sums": sums, "own": [one.tolist() for one in values], "in time": in_time}


def record_messages(name: str) -> None:
    """Note what the library is given to add up."""
    library: Any
    if name == "horovod":
        import horovod.torch.optimizer as library

        function = "allreduce_async_"
    else:
        import torch.distributed as library

        function = "all_reduce"
    original: Callable[..., Any] = getattr(library, function)

    def record(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
        SENT.append(tensor.dtype)
        return original(tensor, *args, **kwargs)

    setattr(library, function, record)


def main() -> None:
    torch.set_num_threads(1)
    name = sys.argv[1]
    engine = start_engine(name)
    record_messages(name)
    result = {
        "none": summed(engine, 2),
        # Rank 0 has two samples for the second layer, rank 1 has none.
        "a head without samples": summed(engine, 2 * (1 - engine.rank)),
        "fp16": summed(engine, 2, compression="fp16"),
        "bf16": bf16(engine),
        "accumulated": accumulated(engine),
        "messages": messages(engine),
        "begun sums": begun_sums(engine),
    }
    sys.stdout.write(f"RESULT {json.dumps([engine.rank, result])}\n")
    sys.stdout.flush()
    engine.barrier()
    engine.close()


if __name__ == "__main__":
    main()
