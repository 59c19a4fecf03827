"""TensorPack's `.npz` weights as ours.

Names and layouts are those of examples/FasterRCNN at tensorpack/tensorpack@db541e8. Its networks
and ours compute the same, given `-AlignPadding` weights and pictures padded to multiples of 32, as
ours are: strides are on the 3x3 convolutions (`BACKBONE.STRIDE_1X1=False`); padding one pixel less
at the right and the bottom than at the left and the top (`TF_PAD_MODE=False`) leaves out only what
no convolution of stride 2 over an even size reaches; epsilon, scale and mean of the pixels agree.
What differs is undone here: channels of pixels are blue, green, red; kernels are (height, width,
in, out); background is no category of the mask head; anchors go size by size, not ratio by ratio.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.errors import JobFailed
from training.maskrcnn.hyperparameters import Hyperparameters

Arrays = Mapping[str, NDArray[Any]]
Weights = dict[str, Tensor]

BACKBONE = re.compile(r"(conv0|group\d)/")
"""What the names of a ResNet's weights begin with, but for its classifier."""
IGNORED = re.compile(r"linear/|global_step$|learning_rate$|(.*/)?(Momentum|AccGrad)$")
"""Of a classifier or of training."""
NORM_SUFFIXES = {
    "gamma": "weight",
    "beta": "bias",
    "mean/EMA": "running_mean",
    "variance/EMA": "running_var",
}
FIRST_PYRAMID_STAGE = 2


@dataclass(frozen=True)
class _Rule:
    """How weights of one kind of layer become ours."""

    pattern: re.Pattern[str]
    """Of the whole name in TensorPack."""
    name: Callable[[re.Match[str]], str]
    """Our name."""
    change: Callable[[Tensor], Tensor]


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the weights of an .npz file; names lose TensorFlow's `:0`.

    Raises:
        JobFailed: It cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            names = {name: name.removesuffix(":0") for name in file.files}
            return {own: file[name] for name, own in names.items() if not IGNORED.match(own)}
    except Exception as error:  # numpy and zipfile raise many kinds
        raise JobFailed(f"{path}: cannot be read as weights ({error})") from error


def resnet_weights(arrays: Arrays, path: Path) -> Weights:
    """Return the weights of the backbone, named as in torchvision's ResNet.

    Raises:
        JobFailed: There are none, or a name is unknown.
    """
    own = {name: array for name, array in arrays.items() if BACKBONE.match(name)}
    if not own:
        raise JobFailed(f"{path}: has no weights of a ResNet as TensorPack names them (conv0/W …)")
    return _convert(own, _RESNET, path)


def model_weights(arrays: Arrays, hyperparameters: Hyperparameters, path: Path) -> Weights:
    """Return the weights of a whole model, named as ours.

    Raises:
        JobFailed: It is a backbone only, or a model that ours is not.
    """
    backbone = resnet_weights(arrays, path)
    rest = {name: array for name, array in arrays.items() if not BACKBONE.match(name)}
    if not rest:
        raise JobFailed(f"load_model: {path} has a backbone only; give it as backbone_weights")
    has_pyramid = any(name.startswith("fpn/") for name in rest)
    if has_pyramid != hyperparameters.mode_fpn:
        raise JobFailed(f"load_model: {path} is a model with mode_fpn {has_pyramid}; set it so")
    rules = (*_PYRAMID, *_HEADS) if has_pyramid else (*_c4_proposals(hyperparameters), *_HEADS)
    return {
        **{backbone_name(name, has_pyramid=has_pyramid): w for name, w in backbone.items()},
        **_convert(rest, rules, path),
    }


def backbone_name(name: str, *, has_pyramid: bool) -> str:
    """Return where our model has a weight of torchvision's ResNet."""
    if name.startswith("layer4.") and not has_pyramid:
        return f"roi_heads.box_head.{name}"
    return f"backbone.body.{name}"


def _convert(arrays: Arrays, rules: tuple[_Rule, ...], path: Path) -> Weights:
    weights: Weights = {}
    unknown = []
    for name, array in arrays.items():
        rule, match = next(
            ((rule, match) for rule in rules if (match := rule.pattern.fullmatch(name))),
            (None, None),
        )
        if rule is None or match is None:
            unknown.append(name)
        else:
            weights[rule.name(match)] = rule.change(torch.from_numpy(np.asarray(array)).float())
    if unknown:
        raise JobFailed(
            f"{path}: {len(unknown)} of its weights have no place in this model: "
            f"{', '.join(unknown[:3])}. Cascades, and group norm in pyramid and heads, cannot be "
            "taken over; ResNets with batch norm or group norm, pyramids, C4 models and the "
            "heads fastrcnn_2fc_head and maskrcnn_up4conv_head can"
        )
    return weights


def _rule(pattern: str, name: str | Callable[[re.Match[str]], str], change: Any = None) -> _Rule:
    """Return a rule; a name may hold `{0}`, `{1}` … for the groups of the pattern."""

    def fill(match: re.Match[str]) -> str:
        return name(match) if callable(name) else name.format(*match.groups())

    return _Rule(re.compile(pattern), fill, change or (lambda tensor: tensor))


def _kernel(tensor: Tensor) -> Tensor:
    """(height, width, in, out) to (out, in, height, width); of transposed convolutions alike."""
    return tensor.permute(3, 2, 0, 1).contiguous()


def _matrix(tensor: Tensor) -> Tensor:
    """(in, out) to (out, in)."""
    return tensor.t().contiguous()


def _layer(theirs: str, ours: str, change: Callable[[Tensor], Tensor]) -> tuple[_Rule, _Rule]:
    """Return the rules of a layer with weights W and biases b."""
    return _rule(f"{theirs}/W", f"{ours}.weight", change), _rule(f"{theirs}/b", f"{ours}.bias")


def _block_name(match: re.Match[str]) -> str:
    group, block, layer, suffix = match.groups()
    is_norm = suffix != "W"
    ours = f"layer{int(group) + 1}.{block}."
    if layer == "shortcut":
        ours += f"downsample.{int(is_norm)}"
    else:
        ours += f"{'bn' if is_norm else 'conv'}{layer}"
    return f"{ours}.{_suffix(suffix)}"


def _suffix(suffix: str) -> str:
    return NORM_SUFFIXES.get(suffix.partition("/")[2], "weight")


_NORM = r"(?:bn|gn)/(?:gamma|beta|mean/EMA|variance/EMA)"
_RESNET = (
    _rule(r"conv0/W", "conv1.weight", lambda tensor: _kernel(tensor).flip(1)),
    _rule(rf"conv0/({_NORM})", lambda match: f"bn1.{_suffix(match[1])}"),
    _rule(r"group(\d)/block(\d+)/conv(\d|shortcut)/(W)", _block_name, _kernel),
    _rule(rf"group(\d)/block(\d+)/conv(\d|shortcut)/({_NORM})", _block_name),
)


def _pyramid_name(part: str) -> Callable[[re.Match[str]], str]:
    def name(match: re.Match[str]) -> str:
        level = int(match[1]) - FIRST_PYRAMID_STAGE
        return f"backbone.fpn.{part}.{level}.0.{'weight' if match[2] == 'W' else 'bias'}"

    return name


_PYRAMID = (
    *(
        _rule(rf"fpn/{theirs}(\d)/({end})", _pyramid_name(ours), change)
        for theirs, ours in (("lateral_1x1_c", "inner_blocks"), ("posthoc_3x3_p", "layer_blocks"))
        for end, change in (("W", _kernel), ("b", None))
    ),
    *_layer("rpn/conv0", "rpn.head.conv.0.0", _kernel),
    *_layer("rpn/class", "rpn.head.cls_logits", _kernel),
    *_layer("rpn/box", "rpn.head.bbox_pred", _kernel),
)


def _c4_proposals(hyperparameters: Hyperparameters) -> tuple[_Rule, ...]:
    """Return the rules of a proposal network with all sizes of anchors on one level."""
    sizes, ratios = len(hyperparameters.anchor_sizes), len(hyperparameters.anchor_aspect_ratios)

    def reorder(tensor: Tensor) -> Tensor:
        """Put what is predicted for each anchor, in the first dimension, ratio by ratio."""
        if tensor.shape[0] % (sizes * ratios):
            return tensor  # Of other anchors: it will not fit.
        per_anchor = tensor.reshape(sizes, ratios, -1, *tensor.shape[1:])
        return per_anchor.transpose(0, 1).reshape(tensor.shape)

    return (
        *_layer("rpn/conv0", "rpn.head.conv.0.0", _kernel),
        *(
            _rule(f"rpn/{theirs}/{end}", f"rpn.head.{ours}.{own_end}", change)
            for theirs, ours in (("class", "cls_logits"), ("box", "bbox_pred"))
            for end, own_end, change in (
                ("W", "weight", lambda tensor: reorder(_kernel(tensor))),
                ("b", "bias", reorder),
            )
        ),
    )


def _with_background(tensor: Tensor) -> Tensor:
    """Put an output for background, which nothing reads, before those of the categories."""
    return torch.cat([torch.zeros_like(tensor[:1]), tensor])


_HEADS = (
    *_layer(r"fastrcnn/fc6", "roi_heads.box_head.fc6", _matrix),
    *_layer(r"fastrcnn/fc7", "roi_heads.box_head.fc7", _matrix),
    *_layer(r"fastrcnn/(?:outputs/)?class", "roi_heads.box_predictor.cls_score", _matrix),
    *_layer(r"fastrcnn/(?:outputs/)?box", "roi_heads.box_predictor.bbox_pred", _matrix),
    _rule(r"maskrcnn/fcn(\d)/W", "roi_heads.mask_head.{0}.0.weight", _kernel),
    _rule(r"maskrcnn/fcn(\d)/b", "roi_heads.mask_head.{0}.0.bias"),
    *_layer(r"maskrcnn/deconv", "roi_heads.mask_predictor.conv5_mask", _kernel),
    _rule(
        r"maskrcnn/conv/W",
        "roi_heads.mask_predictor.mask_fcn_logits.weight",
        lambda tensor: _with_background(_kernel(tensor)),
    ),
    _rule(r"maskrcnn/conv/b", "roi_heads.mask_predictor.mask_fcn_logits.bias", _with_background),
)
