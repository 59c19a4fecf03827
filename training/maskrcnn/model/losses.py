"""Losses and label metrics, each as a sum and the count that divides it.

A mean over one rank's samples cannot be put together with another rank's: they have different
counts. So each rank gives sums and counts, and the step divides by the counts of all ranks
(`training.maskrcnn.step`): N ranks take the step that one rank with all pictures would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (its usual name)

SMOOTH_L1_BETA = 1 / 9
"""Where the box losses turn from square to linear, as in torchvision and Detectron."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A mean before it is divided."""

    sum: Tensor
    count: Tensor | float


Ratios = Mapping[str, Ratio]

TellCounts = Callable[[Mapping[str, float]], None]
"""Told the counts of all losses, by name, as soon as they are known."""

LOSSES = (
    "rpn_losses/label_loss",
    "rpn_losses/box_loss",
    "fastrcnn_losses/label_loss",
    "fastrcnn_losses/box_loss",
    "maskrcnn_loss/maskrcnn_loss",
)
"""What is minimised: the sum of these, each divided by its count."""

LABEL_METRICS = "fastrcnn_losses/label_metrics"

NAMES = (
    *LOSSES,
    "fastrcnn_losses/num_fg_label",
    f"{LABEL_METRICS}/accuracy",
    f"{LABEL_METRICS}/false_negative",
    f"{LABEL_METRICS}/fg_accuracy",
    "maskrcnn_loss/accuracy",
    "maskrcnn_loss/pos_accuracy",
    "maskrcnn_loss/fg_pixel_ratio",
)
"""All ratios of a step: the losses, and metrics for people. `num_fg_label` is foreground proposals
a picture, `false_negative` the share of foreground taken for background."""

MASK_BRANCH = "maskrcnn_loss/"
"""Begins the names of what only a model with masks has."""


def loss_names(mode_mask: bool) -> tuple[str, ...]:
    """Return the losses of a model with or without masks, in the order of `LOSSES`."""
    return _names_of(LOSSES, mode_mask)


def ratio_names(mode_mask: bool) -> tuple[str, ...]:
    """Return all ratios of a model with or without masks, in the order of `NAMES`."""
    return _names_of(NAMES, mode_mask)


def _names_of(names: tuple[str, ...], mode_mask: bool) -> tuple[str, ...]:
    return tuple(name for name in names if mode_mask or not name.startswith(MASK_BRANCH))


def proposal_losses(logits: Tensor, deltas: Tensor, delta_targets: Tensor) -> dict[str, Ratio]:
    """Return the losses of the proposal network.

    Args:
        logits: (S,) of the sampled anchors of all pictures, the foreground first.
        deltas, delta_targets: (F, 4) of the foreground.
    """
    is_object = torch.zeros_like(logits)
    is_object[: len(delta_targets)] = 1
    count = float(logits.numel())
    label_loss = F.binary_cross_entropy_with_logits(logits, is_object, reduction="sum")
    return {
        "rpn_losses/label_loss": Ratio(label_loss, count),
        "rpn_losses/box_loss": Ratio(_smooth_l1(deltas, delta_targets), count),
    }


def box_losses(
    logits: Tensor, deltas: Tensor, labels: Tensor, delta_targets: Tensor, *, pictures: int
) -> dict[str, Ratio]:
    """Return the losses and label metrics of the box head.

    Args:
        logits: (R, categories + 1); 0 is background.
        deltas: (R, 4 * (categories + 1)).
        labels: (R,) int64.
        delta_targets: (R, 4).
        pictures: How many pictures the R proposals come from.
    """
    is_foreground = labels > 0
    own_deltas = deltas.reshape(-1, logits.shape[1], 4)[
        torch.arange(labels.numel(), device=labels.device), labels
    ]
    # What is counted stays on the device, which need not be waited for.
    own_targets = torch.where(is_foreground[:, None], delta_targets, own_deltas.detach())
    count, foreground_count = float(labels.numel()), is_foreground.sum()
    guesses = logits.detach().argmax(dim=1) if labels.numel() else labels
    is_right, is_missed = guesses == labels, is_foreground & (guesses == 0)
    return {
        "fastrcnn_losses/label_loss": Ratio(
            F.cross_entropy(logits, labels, reduction="sum"), count
        ),
        "fastrcnn_losses/box_loss": Ratio(_smooth_l1(own_deltas, own_targets), count),
        "fastrcnn_losses/num_fg_label": Ratio(foreground_count, float(pictures)),
        f"{LABEL_METRICS}/accuracy": Ratio(is_right.sum(), count),
        f"{LABEL_METRICS}/false_negative": Ratio(is_missed.sum(), foreground_count),
        f"{LABEL_METRICS}/fg_accuracy": Ratio((is_right & is_foreground).sum(), foreground_count),
    }


def mask_losses(logits: Tensor, targets: Tensor) -> dict[str, Ratio]:
    """Return the loss and metrics of the mask head.

    Args:
        logits: (F, M, M) of the foreground proposals, each for the category of its object.
        targets: (F, M, M) float32, share of each cell that the object covers.
    """
    loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="sum")
    is_object = targets > 0.5
    right = (logits.detach() > 0) == is_object
    pixels = float(targets.numel())
    object_pixels = is_object.sum()
    return {
        "maskrcnn_loss/maskrcnn_loss": Ratio(loss, pixels),
        "maskrcnn_loss/accuracy": Ratio(right.sum(), pixels),
        "maskrcnn_loss/pos_accuracy": Ratio((right & is_object).sum(), object_pixels),
        "maskrcnn_loss/fg_pixel_ratio": Ratio(object_pixels, pixels),
    }


def _smooth_l1(deltas: Tensor, targets: Tensor) -> Tensor:
    return F.smooth_l1_loss(deltas, targets, beta=SMOOTH_L1_BETA, reduction="sum")
