"""Weights to begin with: a backbone's, or a whole model's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor
from torchvision.models import get_model_weights

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model import tensorpack_weights
from training.maskrcnn.model.fitting import (
    COUNT_OF_BATCHES,
    Weights,
    averaged_or_own,
    check_finite,
    misfit,
)
from training.maskrcnn.model.maskrcnn import MaskRCNN
from training.maskrcnn.model.tensorpack_weights import backbone_name, read_arrays, resnet_weights
from training.maskrcnn.torch_file import read_torch_file

TORCHVISION_MODELS = {"mobilenet": "mobilenet_v3_small"}
"""Where torchvision's name is another than ours."""
OUTPUT_LAYERS = ("roi_heads.box_predictor.", "roi_heads.mask_predictor.mask_fcn_logits.")
"""Their shape depends on the categories."""
MASK_BRANCH = "roi_heads.mask_"
BACKBONE_PARTS = ("backbone.body.", "roi_heads.box_head.layer4.")
"""Where a model has the weights of a classification network; the second without a pyramid."""

OTHER_GEOMETRY = (
    "load_model: TensorPack's models were trained with exact_geometry True; without it their boxes "
    "are a little off until they are trained again"
)
OTHER_PADDING = (
    "of TensorPack's ImageNet weights, those with AlignPadding in their name belong to this "
    "network's padding; others can be trained from, but do not compute the same"
)


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
        return _begin_with_model(model, hyperparameters, path)
    if hyperparameters.backbone_weights == "torchvision":
        return _load_backbone(model, _download(hyperparameters.resnet_arch), "torchvision")
    if hyperparameters.backbone_weights is not None:
        path = _find(hyperparameters.backbone_weights, channel, "backbone_weights")
        return _begin_with_backbone(model, path)
    if hyperparameters.batch_norm == "FreezeBN":
        return ["FreezeBN without backbone_weights: the norms do nothing; GN learns better"]
    return []


def _begin_with_model(model: MaskRCNN, hyperparameters: Hyperparameters, path: Path) -> list[str]:
    if path.suffix != ".npz":
        return _load_model(model, _read(path), path)
    state = tensorpack_weights.model_weights(read_arrays(path), hyperparameters, path)
    notes = _load_model(model, state, path)
    return notes if hyperparameters.exact_geometry else [*notes, OTHER_GEOMETRY]


def _begin_with_backbone(model: MaskRCNN, path: Path) -> list[str]:
    if path.suffix != ".npz":
        return _load_backbone(model, _read(path), str(path))
    notes = _load_backbone(model, resnet_weights(read_arrays(path), path), str(path))
    # The only sign of it: names and shapes are the same.
    return notes if "AlignPadding" in path.name else [*notes, f"{path.name}: {OTHER_PADDING}"]


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
    # A path that is absolute is the same for both.
    candidates = dict.fromkeys(channel.weight_candidates(name))
    for path in candidates:
        if path.is_file():
            return path
    raise JobFailed(f"{key}: there is no file {' or '.join(map(str, candidates))}")


def _read(path: Path) -> Weights:
    """Read model.pt, a checkpoint or bare weights; of a checkpoint the average, if it has one."""
    content: Any = read_torch_file(path, problem="cannot be read as weights by name")
    if not isinstance(content, dict):
        raise JobFailed(f"{path}: holds a {type(content).__name__}, not weights by name")
    weights = averaged_or_own(content) if isinstance(content.get("model"), dict) else content
    others = [
        name
        for name, value in weights.items()
        if not (isinstance(name, str) and isinstance(value, Tensor))
    ]
    if others or not weights:
        raise JobFailed(
            f"{path}: holds {', '.join(map(str, others[:3])) or 'nothing'}, not weights by name"
        )
    return weights


def _load_backbone(model: MaskRCNN, state: Weights, source: str) -> list[str]:
    """Load a classification network's weights; its classifier is left out."""
    own = {name for name in model.state_dict() if name.startswith(BACKBONE_PARTS)}
    has_pyramid = not any(name.startswith(BACKBONE_PARTS[1]) for name in own)
    state = {
        backbone_name(name.removeprefix("features."), has_pyramid=has_pyramid): value
        for name, value in state.items()
        if not name.startswith(("fc.", "classifier.")) and COUNT_OF_BATCHES not in name
    }
    rest = model.state_dict().keys() - own
    if (problem := misfit(model, state, left_out=rest)) is not None:
        raise JobFailed(
            f"backbone_weights: {source} does not fit resnet_arch and batch_norm: {problem}"
        )
    check_finite(state, f"backbone_weights: {source}")
    model.load_state_dict(state, strict=False)
    return []


def _load_model(model: MaskRCNN, state: Weights, path: Path) -> list[str]:
    """Load a whole model's weights, but not output layers for other categories.

    Only one of the two may have a mask branch.
    """
    own = model.state_dict()
    has_masks = [any(name.startswith(MASK_BRANCH) for name in names) for names in (own, state)]
    left_out = [
        name
        for name, value in state.items()
        if name.startswith(OUTPUT_LAYERS) and name in own and own[name].shape != value.shape
    ]
    notes = []
    if left_out:
        notes.append(f"{path}: begun anew for other categories: {', '.join(left_out)}")
    if has_masks[0] != has_masks[1]:
        left_out += [name for name in {**own, **state} if name.startswith(MASK_BRANCH)]
        notes.append(
            f"{path}: it has no mask branch; masks are begun anew"
            if has_masks[0]
            else f"{path}: its mask branch is left out, with mode_mask False"
        )
    kept = {name: value for name, value in state.items() if name not in left_out}
    if (problem := misfit(model, kept, left_out=left_out)) is not None:
        raise JobFailed(f"load_model: {path} belongs to another model: {problem}")
    check_finite(kept, f"load_model: {path}")
    model.load_state_dict(kept, strict=False)
    return notes
