"""Weights to begin with: a backbone's, or a whole model's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torchvision.models import get_model_weights

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.maskrcnn import MaskRCNN

TORCHVISION_MODELS = {"mobilenet": "mobilenet_v3_small"}
"""Where torchvision's name is another than ours."""
COUNT_OF_BATCHES = "num_batches_tracked"
"""A counter of batch norm, which frozen and group norm lack."""
OUTPUT_LAYERS = ("roi_heads.box_predictor.", "roi_heads.mask_predictor.mask_fcn_logits.")
"""Their shape depends on the categories."""

Weights = Mapping[str, Tensor]


def load_initial_weights(
    model: MaskRCNN, hyperparameters: Hyperparameters, channel: TrainChannel
) -> list[str]:
    """Load what `backbone_weights` or `load_model` names into the model.

    Returns:
        What the user should know.

    Raises:
        JobFailed: The weights are not there or belong to another model.
    """
    if hyperparameters.load_model is not None:
        path = _find(hyperparameters.load_model, channel, "load_model")
        return _load_model(model, _read(path), path)
    if hyperparameters.backbone_weights is None:
        if hyperparameters.batch_norm == "FreezeBN":
            return ["FreezeBN without backbone_weights: the norms do nothing; GN learns better"]
        return []
    if hyperparameters.backbone_weights == "torchvision":
        return _load_backbone(model, _download(hyperparameters.resnet_arch), "torchvision")
    path = _find(hyperparameters.backbone_weights, channel, "backbone_weights")
    return _load_backbone(model, _read(path), str(path))


def _download(arch: str) -> Weights:
    weights: Any = get_model_weights(TORCHVISION_MODELS.get(arch, arch)).IMAGENET1K_V1
    try:
        state: Weights = weights.get_state_dict(progress=False, check_hash=True)
    except (OSError, RuntimeError) as error:
        raise JobFailed(
            f"backbone_weights: {weights.url} cannot be downloaded ({error}). Put the file into "
            "pretrained-models/ of the train channel and name it, or give None"
        ) from error
    return state


def _find(name: str, channel: TrainChannel, key: str) -> Path:
    candidates = channel.weight_candidates(name)
    for path in candidates:
        if path.is_file():
            return path
    raise JobFailed(f"{key}: {name}: no such file; looked at {' and '.join(map(str, candidates))}")


def _read(path: Path) -> Weights:
    if path.suffix == ".npz":
        raise JobFailed(f"{path}: TensorPack's .npz weights cannot be read; give torchvision's")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises many kinds
        raise JobFailed(f"{path}: cannot be read as weights ({error})") from error
    weights: Weights = content.get("model", content)
    return weights


def _load_backbone(model: MaskRCNN, state: Weights, source: str) -> list[str]:
    """Load a classification network's weights; its classifier is left out."""
    body = cast(nn.Module, model.backbone.body)
    state = {
        name.removeprefix("features."): value
        for name, value in state.items()
        if not name.startswith(("fc.", "classifier."))
    }
    try:
        missing, unexpected = body.load_state_dict(state, strict=False)
    except RuntimeError as error:
        raise JobFailed(f"backbone_weights: {source} does not fit resnet_arch: {error}") from error
    missing = [name for name in missing if COUNT_OF_BATCHES not in name]
    unexpected = [name for name in unexpected if COUNT_OF_BATCHES not in name]
    if missing or unexpected:
        raise JobFailed(
            f"backbone_weights: {source} does not fit resnet_arch and batch_norm: "
            f"{len(missing)} weights are missing ({', '.join(missing[:3])}), "
            f"{len(unexpected)} are unknown ({', '.join(unexpected[:3])})"
        )
    return []


def _load_model(model: MaskRCNN, state: Weights, path: Path) -> list[str]:
    """Load a whole model's weights, but not output layers for other categories."""
    own = model.state_dict()
    left_out = [
        name
        for name, value in state.items()
        if name.startswith(OUTPUT_LAYERS) and name in own and own[name].shape != value.shape
    ]
    kept = {name: value for name, value in state.items() if name not in left_out}
    try:
        missing, unexpected = model.load_state_dict(kept, strict=False)
    except RuntimeError as error:
        raise JobFailed(f"load_model: {path} belongs to another model: {error}") from error
    wrong = [
        name
        for name in (*missing, *unexpected)
        if name not in left_out and COUNT_OF_BATCHES not in name
    ]
    if wrong:
        raise JobFailed(f"load_model: {path} belongs to another model: {', '.join(wrong[:5])}")
    return [f"{path}: begun anew for other categories: {', '.join(left_out)}"] if left_out else []
