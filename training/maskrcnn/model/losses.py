"""Losses and label metrics, each as a sum and the count that divides it.

A mean over one rank's samples cannot be put together with another rank's: they have different
counts. So each rank gives sums and counts, and the step divides by the counts of all ranks
(`training.maskrcnn.step`): N ranks take the step that one rank with all pictures would.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def proposal_losses(
    logits: Tensor, deltas: Tensor, delta_targets: Tensor, foreground: Tensor, background: Tensor
) -> dict[str, Ratio]:
    """Return the losses of the proposal network.

    Args:
        logits: (A,) of all anchors of all pictures.
        deltas, delta_targets: (A, 4).
        foreground, background: Indices of the sampled anchors.
    """
    sampled = torch.cat([foreground, background])
    is_object = torch.zeros_like(sampled, dtype=logits.dtype)
    is_object[: foreground.numel()] = 1
    count = float(sampled.numel())
    label_loss = F.binary_cross_entropy_with_logits(logits[sampled], is_object, reduction="sum")
    box_loss = _smooth_l1(deltas[foreground], delta_targets[foreground])
    return {
        "rpn_losses/label_loss": Ratio(label_loss, count),
        "rpn_losses/box_loss": Ratio(box_loss, count),
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
    foreground = torch.where(labels > 0)[0]
    own_deltas = deltas.reshape(-1, logits.shape[1], 4)[foreground, labels[foreground]]
    count, foreground_count = float(labels.numel()), float(foreground.numel())
    guesses = logits.detach().argmax(dim=1) if labels.numel() else labels
    right, foreground_guesses = guesses == labels, guesses[foreground]
    return {
        "fastrcnn_losses/label_loss": Ratio(
            F.cross_entropy(logits, labels, reduction="sum"), count
        ),
        "fastrcnn_losses/box_loss": Ratio(_smooth_l1(own_deltas, delta_targets[foreground]), count),
        "fastrcnn_losses/num_fg_label": Ratio(logits.new_tensor(foreground_count), float(pictures)),
        f"{LABEL_METRICS}/accuracy": Ratio(right.sum(), count),
        f"{LABEL_METRICS}/false_negative": Ratio((foreground_guesses == 0).sum(), foreground_count),
        f"{LABEL_METRICS}/fg_accuracy": Ratio(right[foreground].sum(), foreground_count),
    }


def mask_losses(logits: Tensor, labels: Tensor, targets: Tensor) -> dict[str, Ratio]:
    """Return the loss and metrics of the mask head.

    Args:
        logits: (F, categories + 1, M, M) of the foreground proposals.
        labels: (F,) int64, above 0.
        targets: (F, M, M) float32, share of each cell that the object covers.
    """
    own_logits = logits[torch.arange(labels.numel(), device=labels.device), labels]
    loss = F.binary_cross_entropy_with_logits(own_logits, targets, reduction="sum")
    is_object = targets > 0.5
    right = (own_logits.detach() > 0) == is_object
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
