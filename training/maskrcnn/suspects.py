"""Finds out which picture, loss, layer and parameter of a failed step is not finite."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from training.maskrcnn.broken_batch import BrokenBatch
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.model.losses import Ratios, loss_names
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.older_torch import get_total_norm
from training.maskrcnn.step import autocast

HUGE = 1e3
"""A trained weight above it was driven there by steps that are too large; those of networks
that learn stay far below."""
LOWER_RATE = (
    "go back to an earlier checkpoint, with a lower base_learning_rate, more warmup_steps or with "
    "gradient_clip"
)

Number = float | str
"""A number, or `nan`, `inf` or `-inf`, which JSON has no numbers for."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of one step with some pictures."""

    name: str
    is_finite: bool
    objects: int
    smallest_side: Number
    """Of the true boxes, in pixels of the resized pictures; 0 without objects."""
    losses: Mapping[str, Number]
    gradient_norm: Number
    layer: str | None
    """The first layer with an output that is not finite."""
    parameters: tuple[str, ...]
    """Those whose gradient is not finite, from the picture up."""
    operation: str | None
    """The first operation of the backward pass whose result is NaN, and where it was called."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was found."""

    problem: str
    weights: tuple[str, ...]
    """Weights that were not finite before the step."""
    largest_weight: Number
    """The largest absolute value of what is trained, where that is finite."""
    largest_weight_in: str
    together: tuple[Trial, ...]
    """Each batch as it was."""
    pictures: tuple[Trial, ...]
    """Each picture on its own."""
    verdict: str


def find_suspects(broken: BrokenBatch, device: torch.device, precision: torch.dtype) -> Report:
    """Take the step with all pictures, then with each."""
    model = _build(broken).to(device)
    weights = tuple(name for name, value in broken.weights.items() if not _is_finite(value))
    largest, largest_in = _largest(model)
    names = loss_names(broken.hyperparameters.mode_mask)

    def take(name: str, batch: Batch) -> Trial:
        counts = {loss: broken.counts.get(loss) for loss in names}
        return _take(name, model, batch.to(device), counts, precision)

    together = tuple(
        take(f"batch {number} of {len(broken.batches)}, {len(batch.names)} pictures", batch)
        for number, batch in enumerate(broken.batches, start=1)
    )
    pictures = tuple(
        take(f"image {name}", _only(batch, index))
        for batch in broken.batches
        for index, name in enumerate(batch.names)
    )
    return Report(
        problem=broken.problem,
        weights=weights,
        largest_weight=_plain(largest),
        largest_weight_in=largest_in,
        together=together,
        pictures=pictures,
        verdict=_judge(weights, largest, together, pictures),
    )


def _build(broken: BrokenBatch) -> MaskRCNN:
    model = build_model(
        broken.hyperparameters,
        categories=broken.categories,
        # One rank stands for all: their statistics are not in the file.
        sum_over_ranks=lambda tensor: tensor.clone(),
    )
    model.load_state_dict(broken.weights)
    return model.train()


def _only(batch: Batch, index: int) -> Batch:
    """Return one picture, padded as it was."""
    return replace(
        batch,
        pixels=batch.pixels[index : index + 1],
        sizes=batch.sizes[index : index + 1],
        targets=batch.targets[index : index + 1],
        names=batch.names[index : index + 1],
    )


def _take(
    name: str,
    model: MaskRCNN,
    batch: Batch,
    counts: Mapping[str, float | None],
    precision: torch.dtype,
) -> Trial:
    sides = torch.cat([target.boxes[:, 2:] - target.boxes[:, :2] for target in batch.targets])
    with _first_bad_layer(model) as bad_layers:
        losses = _losses(model, batch, counts, precision)
    model.zero_grad()
    total = torch.stack(list(losses.values())).sum()
    torch.autograd.backward(total)
    gradients = {
        name: parameter.grad
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }
    norm = float(get_total_norm(list(gradients.values())))
    bad = [name for name, gradient in gradients.items() if not _is_finite(gradient)]
    is_finite = math.isfinite(float(total.detach())) and math.isfinite(norm)
    return Trial(
        name=name,
        is_finite=is_finite,
        objects=len(sides),
        smallest_side=_plain(float(sides.min())) if len(sides) else 0.0,
        losses={loss: _plain(float(value.detach())) for loss, value in losses.items()},
        gradient_norm=_plain(norm),
        layer=next(iter(bad_layers), None),
        parameters=tuple(bad),
        operation=None if is_finite else _first_bad_operation(model, batch, counts, precision),
    )


def _losses(
    model: MaskRCNN, batch: Batch, counts: Mapping[str, float | None], precision: torch.dtype
) -> dict[str, Tensor]:
    """Return the losses, divided as in the failed step where that is known."""
    with autocast(batch.pixels.device, precision):
        ratios: Ratios = model(batch.pixels, batch.sizes, batch.targets)
    found = {}
    for name, count in counts.items():
        own = float(ratios[name].count) if count is None else count
        found[name] = ratios[name].sum / max(own, 1)
    return found


@contextmanager
def _first_bad_layer(model: nn.Module) -> Iterator[list[str]]:
    """Collect the layers whose output is not finite, the first and innermost one first."""
    bad: list[str] = []

    def hook_of(name: str) -> Any:
        def look(_: nn.Module, __: Any, output: Any) -> None:
            if any(not _is_finite(tensor) for tensor in _tensors(output)):
                bad.append(name)

        return look

    hooks = [
        layer.register_forward_hook(hook_of(name)) for name, layer in model.named_modules() if name
    ]
    try:
        yield bad
    finally:
        for hook in hooks:
            hook.remove()


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, Mapping):
        for value in output.values():
            yield from _tensors(value)
    elif isinstance(output, (list, tuple)):
        for value in output:
            yield from _tensors(value)


def _first_bad_operation(
    model: MaskRCNN, batch: Batch, counts: Mapping[str, float | None], precision: torch.dtype
) -> str | None:
    """Return what torch's anomaly detection says; it sees NaN, but not infinity."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.autograd.detect_anomaly(check_nan=True):
                losses = _losses(model, batch, counts, precision)
                torch.autograd.backward(torch.stack(list(losses.values())).sum())
        except RuntimeError as error:
            message = str(error).partition("\n")[0]
            return f"{message} {_place(caught)}".strip()
    return None


def _place(caught: list[warnings.WarningMessage]) -> str:
    """Return where the operation was called, from the traceback that torch gives as a warning."""
    text = "\n".join(str(warning.message) for warning in caught)
    places = re.findall(r'File "[^"]*/(training/\S+)", line (\d+), in \w+\n\s*(.+)', text)
    if not places:
        return ""
    file, line, code = places[-1]
    return f"{file}:{line}: {code}"


def _largest(model: nn.Module) -> tuple[float, str]:
    """Return the largest absolute weight that is finite, and its name."""
    return max(
        (float(parameter.detach().nan_to_num(0, 0, 0).abs().max()), name)
        for name, parameter in model.named_parameters()
    )


def _judge(
    weights: tuple[str, ...],
    largest: float,
    together: tuple[Trial, ...],
    pictures: tuple[Trial, ...],
) -> str:
    if weights:
        return f"The weights were not finite before the step: {LOWER_RATE}."
    bad = [trial.name for trial in pictures if not trial.is_finite]
    has_failed = bad or any(not trial.is_finite for trial in together)
    if has_failed and largest > HUGE:
        return (
            f"The weights are the cause, not the annotations: they had grown to {largest:.3g} "
            f"before the step. The learning rate was too high: {LOWER_RATE}."
        )
    if len(bad) == len(pictures) > 1:
        return (
            f"Each of the {len(bad)} pictures fails on its own: weights and learning rate are the "
            f"cause rather than annotations: {LOWER_RATE}."
        )
    if bad:
        return (
            f"Not finite on their own, {len(bad)} of {len(pictures)} pictures: {'; '.join(bad)}. "
            "Look at their annotations."
        )
    if any(not trial.is_finite for trial in together):
        return (
            "Not finite together, but finite one by one: numbers too large for the arithmetic "
            "(try --precision fp32), or batch norm."
        )
    return (
        "All is finite here. The cause is in another rank's batch, in statistics over all ranks "
        "(SyncBN), or in the arithmetic of another device or precision (--device, --precision)."
    )


def _is_finite(tensor: Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())


def _plain(value: float) -> Number:
    return float(f"{value:.6g}") if math.isfinite(value) else str(value)
