"""Whether weights by name are sound, and whether they fit a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.errors import JobFailed

Weights = Mapping[str, Tensor]

COUNT_OF_BATCHES = "num_batches_tracked"
"""A counter of batch norm, which frozen and group norm lack: models may differ in it."""
SHOWN = 3
"""So many names are given of each kind of misfit."""


def averaged_or_own(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights of model.pt or a checkpoint; of one with `ema_decay` the averaged ones."""
    average = content.get("stepper", {}).get("average", {}).get("weights", {})
    return {**content["model"], **average}


def check_finite(weights: Weights, source: Path | str) -> None:
    """Check that no weight is NaN or infinite.

    Raises:
        JobFailed: One is; the message names the first.
    """
    for name, value in weights.items():
        if bad := int(torch.isfinite(value).logical_not().sum()):
            raise JobFailed(
                f"{source}: {name} has {bad} values of {value.numel()} that are not finite; take "
                "an earlier file, or one that is not damaged"
            )


def misfit(model: nn.Module, weights: Weights, *, left_out: Collection[str] = ()) -> str | None:
    """Return in one line what of the weights does not fit a model, or None where all fits.

    Those that fit are loaded with `strict=False`, for the counters that only one of the two has.

    Args:
        left_out: Names that either may have alone.
    """
    own = model.state_dict()
    shapes = [
        f"{name} is {_shape(value)}, not {_shape(own[name])}"
        for name, value in weights.items()
        if name in own and value.shape != own[name].shape
    ]
    alone = [
        name
        for name in own.keys() ^ weights.keys()
        if name not in left_out and COUNT_OF_BATCHES not in name
    ]
    kinds = {
        "of another shape": shapes,
        "missing": sorted(name for name in alone if name in own),
        "unknown": sorted(name for name in alone if name in weights),
    }
    found = [
        f"{len(names)} weights are {kind} ({_some(names)})"
        for kind, names in kinds.items()
        if names
    ]
    return "; ".join(found) or None


def _shape(value: Tensor) -> str:
    return " x ".join(map(str, value.shape)) or "a number"


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
