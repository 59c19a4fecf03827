"""`config:KEY`: TensorPack's configuration, as far as the trainer has the same.

A job spec written for the TensorFlow 1 implementations trains here with the same settings. Keys and
meanings are those of config.py at tensorpack/tensorpack@db541e8 and
aws-samples/mask-rcnn-tensorflow@99dda64. What comes out are hyperparameters like any other.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from training.config_keys import PREFIX, split_config
from training.hyperparameter_types import read_names, read_text
from training.reference_keys import AWS_SAMPLES_KEYS, TENSORPACK_KEYS

Values = dict[str, Any]

SAME: Mapping[str, str] = {
    "MODE_MASK": "mode_mask",
    "MODE_FPN": "mode_fpn",
    "BACKBONE.NORM": "batch_norm",
    "BACKBONE.WEIGHTS": "backbone_weights",
    "DATA.NUM_WORKERS": "num_workers",
    "TRAIN.EVAL_PERIOD": "eval_period",
    "TRAIN.SEED": "seed",
    "TRAIN.WARMUP": "warmup_steps",
    "TRAIN.WARMUP_STEPS": "warmup_steps",
    "TRAIN.WEIGHT_DECAY": "weight_decay",
    "PREPROC.MAX_SIZE": "image_max_side",
    "RPN.ANCHOR_SIZES": "anchor_sizes",
    "RPN.ANCHOR_RATIOS": "anchor_aspect_ratios",
    "RPN.BATCH_PER_IM": "rpn_batch_per_image",
    "FRCNN.BATCH_PER_IM": "roi_batch_per_image",
    "FPN.NUM_CHANNEL": "fpn_channels",
    "FPN.FRCNN_FC_HEAD_DIM": "box_head_channels",
    "FPN.BOXCLASS_FC_HEAD_DIM": "box_head_channels",
    "MRCNN.HEAD_DIM": "mask_head_channels",
    "TEST.RESULT_SCORE_THRESH": "score_threshold",
    "TEST.RESULTS_PER_IM": "detections_per_image",
}
"""Keys with a hyperparameter that takes the same value."""

REFERENCE_BATCH = 8
"""Pictures in a step that TensorPack's TRAIN.BASE_LR is defined for; aws-samples' is for one."""

RESNETS = {(3, 4, 6, 3): "resnet50", (3, 4, 23, 3): "resnet101"}
STAGES = 5


def _choose_resnet(value: Any) -> Values:
    for blocks, name in RESNETS.items():
        if _plain(value) == list(blocks):
            return {"resnet_arch": name}
    raise ValueError("only [3, 4, 6, 3] (resnet50) and [3, 4, 23, 3] (resnet101) are allowed")


def _short_sides(value: Any) -> Values:
    sides = list(value) if isinstance(value, list | tuple) else [value, value]
    if len(sides) != 2:
        raise ValueError("expected the smallest and the largest, for example [640, 800]")
    if sides[0] == sides[1]:
        return {"image_short_sides": sides[:1]}
    return {"image_short_sides": sides, "short_side_sampling": "range"}


def _lr_schedule(value: Any) -> Values:
    """`1x` to `9x` are multiples of Detectron's schedule (finalize_configs in config.py)."""
    if not isinstance(value, str):
        return {"lr_schedule": value}
    times = value.removesuffix("x")
    if value == times or times not in set("123456789"):
        raise ValueError('expected a list of steps, or "1x" to "9x"')
    last = 180 * int(times)
    thousands = [120, 160, 180] if last == 180 else [last - 120, last - 40, last]
    return {"lr_schedule": [thousand * 1000 for thousand in thousands]}


def _splits(name: str) -> Callable[[Any], Values]:
    return lambda value: {name: [str(one).removeprefix("coco_") for one in _as_list(value)]}


def _frozen_stages(value: Any) -> Values:
    if type(value) is not int or not 0 <= value <= 2:
        raise ValueError("expected 0, 1 or 2")
    return {"trainable_backbone_layers": STAGES - value}


CHANGED: Mapping[str, Callable[[Any], Values]] = {
    "BACKBONE.RESNET_NUM_BLOCKS": _choose_resnet,
    "BACKBONE.FREEZE_AT": _frozen_stages,
    "DATA.TRAIN": _splits("data_train"),
    "DATA.VAL": _splits("data_val"),
    "DATA.FILTER_EMPTY_ANNOTATIONS": lambda value: {"empty_pictures": "skip" if value else "train"},
    "TRAIN.BASE_LR": lambda value: {
        "base_learning_rate": value,
        "reference_batch_size": REFERENCE_BATCH,
    },
    "TRAIN.LR_SCHEDULE": _lr_schedule,
    "TRAIN.GRADIENT_CLIP": lambda value: {"gradient_clip": value or None},
    "PREPROC.TRAIN_SHORT_EDGE_SIZE": _short_sides,
}
"""Keys whose value is written in another way, or says more than one thing."""

OF_PYRAMID: Mapping[str, str] = {
    "RPN.TRAIN_PER_LEVEL_NMS_TOPK": "train",
    "RPN.TEST_PER_LEVEL_NMS_TOPK": "test",
}
OF_C4: Mapping[str, str] = {
    "RPN.TRAIN_PRE_NMS_TOPK": "rpn_pre_nms_train",
    "RPN.TRAIN_POST_NMS_TOPK": "rpn_post_nms_train",
    "RPN.TEST_PRE_NMS_TOPK": "rpn_pre_nms_test",
    "RPN.TEST_POST_NMS_TOPK": "rpn_post_nms_test",
}
"""Keys that only one of the models reads; the first count proposals a level and a picture."""

FIXED: Mapping[str, Any] = {
    "TRAINER": "horovod",
    "BACKBONE.FREEZE_AFFINE": True,
    "BACKBONE.TF_PAD_MODE": False,
    "BACKBONE.STRIDE_1X1": False,
    "DATA.ABSOLUTE_COORD": True,
    "PREPROC.PIXEL_MEAN": [123.675, 116.28, 103.53],
    "PREPROC.PIXEL_STD": [58.395, 57.12, 57.375],
    "RPN.ANCHOR_STRIDE": 16,
    "RPN.POSITIVE_ANCHOR_THRESH": 0.7,
    "RPN.NEGATIVE_ANCHOR_THRESH": 0.3,
    "RPN.FG_RATIO": 0.5,
    "RPN.MIN_SIZE": 0,
    "RPN.PROPOSAL_NMS_THRESH": 0.7,
    "FRCNN.BBOX_REG_WEIGHTS": [10, 10, 5, 5],
    "FRCNN.FG_THRESH": 0.5,
    "FRCNN.FG_RATIO": 0.25,
    "FPN.ANCHOR_STRIDES": [4, 8, 16, 32, 64],
    "FPN.PROPOSAL_MODE": "Level",
    "FPN.FRCNN_HEAD_FUNC": "fastrcnn_2fc_head",
    "FPN.BOXCLASS_HEAD_FUNC": "boxclass_2fc_head",
    "FPN.MRCNN_HEAD_FUNC": "maskrcnn_up4conv_head",
    "FPN.CASCADE": False,
    "MRCNN.ACCURATE_PASTE": True,
    "TEST.FRCNN_NMS_THRESH": 0.5,
}
"""Keys whose value is part of the trainer's model."""

ELSEWHERE: Mapping[str, str] = {
    "DATA.BASEDIR": "it is the train channel; see channels.train of the job",
    "DATA.NUM_CATEGORY": "the annotations say it",
    "DATA.CLASS_NAMES": "the annotations say it",
    "TRAIN.NUM_GPUS": "it is the number of processes; see instances of the job",
    "TRAIN.STARTING_EPOCH": "it follows from the checkpoint that the job goes on from",
    "TRAIN.STEPS_PER_EPOCH": "its pictures depend on the number of GPUs; see images_per_epoch",
    "TRAIN.CHECKPOINT_PERIOD": "it counts epochs; see checkpoint_period, in steps",
    "TRAIN.WARMUP_INIT_LR": "it is no share of the rate; see warmup_factor",
    "TRAIN.SHOULD_STOP": "see lr_schedule and lr_epoch_schedule",
    "PREPROC.TEST_SHORT_EDGE_SIZE": "evaluation takes the largest of image_short_sides",
    "PREPROC.PREDEFINED_PADDING": "see aspect_ratio_grouping",
    "PREPROC.PADDING_SHAPES": "see aspect_ratio_grouping",
    "RPN.CROWD_OVERLAP_THRESH": "background in crowds is always ignored, from a cover of 0.5",
    "RPN.HEAD_DIM": "it is the number of channels that the backbone gives",
    "RPN.UNQUANTIZED_ANCHOR": "see exact_geometry",
    "FPN.NORM": "the pyramid has group norm with batch_norm GN, and none otherwise",
}
"""Keys without an equal for which something comes near, and what."""


KEYS = (
    frozenset({*SAME, *CHANGED, *OF_PYRAMID, *OF_C4, *FIXED, *ELSEWHERE})
    | TENSORPACK_KEYS
    | AWS_SAMPLES_KEYS
)
"""All that the two implementations have."""


def take_config(values: Mapping[str, Any]) -> Values:
    """Return hyperparameters with the `config:` ones translated.

    Raises:
        ValueError: A key has no equal, its value cannot be taken, or it contradicts another.
    """
    taken, config = split_config(values)
    texts = {key: read_text(value) for key, value in config.items()}
    has_pyramid = read_text(taken.get("mode_fpn", texts.get("MODE_FPN"))) is not False
    origins = {name: name for name in taken}
    for key, value in texts.items():
        try:
            translated = _translate(key, value, has_pyramid=has_pyramid)
        except ValueError as error:
            raise ValueError(f"{PREFIX}{key}: {value!r}: {error}") from None
        for name, own in translated.items():
            if name in taken and _plain(taken[name]) != _plain(own):
                raise ValueError(
                    f"{PREFIX}{key}: {value!r} means {name} {own!r}, but {origins[name]} says "
                    f"{taken[name]!r}; give one of them"
                )
            taken[name] = own
            origins.setdefault(name, f"{PREFIX}{key}")
    return taken


def _translate(key: str, value: Any, *, has_pyramid: bool) -> Values:
    """Return what one key means here."""
    if key in SAME:
        return {SAME[key]: value}
    if key in CHANGED:
        return CHANGED[key](value)
    if (key in OF_PYRAMID and not has_pyramid) or (key in OF_C4 and has_pyramid):
        raise ValueError(f"TensorPack reads it with MODE_FPN={not has_pyramid} only")
    if key in OF_PYRAMID:
        return {f"rpn_{time}_nms_{OF_PYRAMID[key]}": value for time in ("pre", "post")}
    if key in OF_C4:
        return {OF_C4[key]: value}
    if key in FIXED:
        if _plain(value) != _plain(FIXED[key]):
            raise ValueError(f"the trainer's model has {FIXED[key]!r}, and nothing else")
        return {}
    if key in ELSEWHERE:
        raise ValueError(f"no hyperparameter is the same: {ELSEWHERE[key]}")
    if key in KEYS:
        raise ValueError("the trainer has nothing like it; leave it out")
    near = difflib.get_close_matches(key.upper(), sorted(KEYS), n=1)
    hint = f"; did you mean {near[0]}?" if near else f", for example {min(SAME)}"
    raise ValueError(f"TensorPack's configuration has no such key{hint}")


def _plain(value: Any) -> Any:
    """Return a value as it is compared with another, however either is written."""
    return _with_lists(read_names(value))


def _with_lists(value: Any) -> Any:
    return [_with_lists(one) for one in value] if isinstance(value, list | tuple) else value


def _as_list(value: Any) -> list[Any]:
    names = read_names(value)
    return list(names) if isinstance(names, list | tuple) else [names]
