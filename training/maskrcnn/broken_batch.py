"""The batch of a step that failed, with all that its step needs to be taken again.

A loss or a gradient that is not finite stops the run. Each rank that may have caused it leaves
its pictures as they entered the network, their targets and the weights, so that
`python -m training.maskrcnn.replay` finds the cause anywhere, without the data set.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.errors import JobFailed, UsageError
from training.maskrcnn.data.batch import Batch, Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.files import write_atomically
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.torch_file import read_torch_file

CATEGORY_BIASES = "roi_heads.box_predictor.cls_score.bias"
"""Has one value a category and one for background."""
PARTS = {"batches", "weights", "hyperparameters", "counts", "problem"}
PROBLEM = "not a batch that the trainer saved as broken-batch-rank-N.pt"
BATCH_CLASSES: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = [
    Batch,
    Target,
    MaskCrops,
]
"""All that a file holds besides tensors, numbers and texts; nothing else in it is executed."""


@dataclass(frozen=True, kw_only=True)
class BrokenBatch:
    """What one rank had in the failed step."""

    batches: tuple[Batch, ...]
    """On the CPU; more than one where gradients are accumulated."""
    weights: Mapping[str, Tensor]
    """Of the model before the step."""
    hyperparameters: Hyperparameters
    counts: Mapping[str, float]
    """What each loss was divided by: the counts of all ranks (`training.maskrcnn.model.losses`).
    Empty where the step failed before they were known."""
    problem: str
    """What the trainer said."""

    @property
    def categories(self) -> int:
        """How many kinds of objects the model knows."""
        return self.weights[CATEGORY_BIASES].numel() - 1


def save_broken_batch(
    path: Path,
    batches: Sequence[Batch],
    *,
    model: nn.Module,
    hyperparameters: Hyperparameters,
    counts: Mapping[str, float],
    problem: str,
) -> str:
    """Write the batch of a failed step, and never raise: its failure is what must be told.

    Args:
        path: `LogChannel.rank_batch`.
        batches: This rank's, on any device.
        model: The model itself, not what the engine wraps around it.

    Returns:
        A sentence for the failure's message: how to look at the batch, or why it is not there.
    """
    content = {
        "batches": [batch.to(torch.device("cpu")) for batch in batches],
        "weights": {name: value.detach().cpu() for name, value in model.state_dict().items()},
        "hyperparameters": hyperparameters.model_dump(mode="json"),
        "counts": dict(counts),
        "problem": problem,
    }
    buffer = io.BytesIO()
    try:
        torch.save(content, buffer)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, buffer.getvalue())
    except OSError as error:
        return f"The batch could not be saved ({path}: {error.strerror})"
    return f"To see which picture it is: python -m training.maskrcnn.replay {path}"


def read_broken_batch(path: Path) -> BrokenBatch:
    """Read what `save_broken_batch` wrote.

    Raises:
        JobFailed: It cannot be read or is something else.
    """
    content: Any = read_torch_file(path, problem=PROBLEM, classes=BATCH_CLASSES)
    if not isinstance(content, dict) or not content.keys() >= PARTS:
        raise JobFailed(f"{path}: {PROBLEM} (it has no {', '.join(sorted(PARTS))})")
    try:
        return BrokenBatch(
            batches=tuple(content["batches"]),
            weights=content["weights"],
            hyperparameters=read_hyperparameters(content["hyperparameters"], source=str(path)),
            counts=content["counts"],
            problem=content["problem"],
        )
    except UsageError as error:
        reason = str(error).partition("\n")[0].removeprefix(f"{path}: ")
        raise JobFailed(f"{path}: {PROBLEM} (its hyperparameters: {reason})") from error
