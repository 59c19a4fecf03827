"""The backbone and its feature pyramid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn
from torchvision.models import mobilenet_v3_small, resnet18, resnet50, resnet101
from torchvision.models.detection.backbone_utils import BackboneWithFPN

from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.frozen_norm import fold_frozen_norms
from training.maskrcnn.model.norm import SumOverRanks, choose_norm, thin_group_norm

RESNETS = {"resnet18": resnet18, "resnet50": resnet50, "resnet101": resnet101}


@dataclass(frozen=True)
class Body:
    """A classification network without its classifier."""

    network: nn.Module
    stages: tuple[tuple[str, ...], ...]
    """Names of the children in the five stages that each halve the picture, from the bottom."""
    channels: tuple[int, int, int, int]
    """Of the outputs of strides 4, 8, 16 and 32."""


def build_backbone(
    hyperparameters: Hyperparameters, sum_over_ranks: SumOverRanks
) -> BackboneWithFPN:
    """Build the backbone with its pyramid, with random weights; stages not trained are frozen.

    Its features are `0` to `3` and `pool`: strides 4, 8, 16, 32 and 64.
    """
    body = build_body(hyperparameters, sum_over_ranks)
    return BackboneWithFPN(
        body.network,
        return_layers={stage[-1]: str(level) for level, stage in enumerate(body.stages[1:])},
        in_channels_list=list(body.channels),
        out_channels=hyperparameters.fpn_channels,
        norm_layer=thin_group_norm if hyperparameters.batch_norm == "GN" else None,
    )


def trainable_stages(hyperparameters: Hyperparameters) -> int:
    """Return how many stages, from the top, are trained."""
    if hyperparameters.trainable_backbone_layers is not None:
        return hyperparameters.trainable_backbone_layers
    return 5 if hyperparameters.backbone_weights is None else 3


def build_body(hyperparameters: Hyperparameters, sum_over_ranks: SumOverRanks) -> Body:
    """Build the network with random weights, the stages that are not trained frozen."""
    body = _build_whole_body(hyperparameters, sum_over_ranks)
    fold_frozen_norms(body.network)
    _freeze(body, keep=trainable_stages(hyperparameters))
    return body


def _build_whole_body(hyperparameters: Hyperparameters, sum_over_ranks: SumOverRanks) -> Body:
    if hyperparameters.resnet_arch == "mobilenet":
        norm = choose_norm(
            hyperparameters.batch_norm, sum_over_ranks, eps=1e-3, group_norm=thin_group_norm
        )
        return Body(
            mobilenet_v3_small(weights=None, norm_layer=norm).features,
            (("0",), ("1",), ("2", "3"), tuple("45678"), ("9", "10", "11", "12")),
            (16, 24, 48, 576),
        )
    norm = choose_norm(hyperparameters.batch_norm, sum_over_ranks)
    network: Any = RESNETS[hyperparameters.resnet_arch](weights=None, norm_layer=norm)
    width = network.inplanes // 8
    return Body(
        network,
        (("conv1", "bn1"), ("layer1",), ("layer2",), ("layer3",), ("layer4",)),
        (width, width * 2, width * 4, width * 8),
    )


def _freeze(body: Body, *, keep: int) -> None:
    """Stop the training of all but the top `keep` stages."""
    for stage in body.stages[: len(body.stages) - keep]:
        for name in stage:
            body.network.get_submodule(name).requires_grad_(False)
