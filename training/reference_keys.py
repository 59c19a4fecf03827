"""The keys of the two TensorFlow 1 implementations' own configuration, for `config:KEY`.

Those of config.py at tensorpack/tensorpack@db541e8 and aws-samples/mask-rcnn-tensorflow@99dda64; a
test compares them with what these files gave. Left out is what a job sets in another way.
"""

from __future__ import annotations


def _group(name: str, keys: str) -> frozenset[str]:
    return frozenset(f"{name}.{key}" for key in keys.split())


_SHARED = (
    _group("DATA", "NUM_CATEGORY CLASS_NAMES")
    | _group("BACKBONE", "FREEZE_AFFINE FREEZE_AT TF_PAD_MODE STRIDE_1X1")
    | _group("TRAIN", "WEIGHT_DECAY BASE_LR WARMUP_INIT_LR")
    | _group("PREPROC", "TRAIN_SHORT_EDGE_SIZE TEST_SHORT_EDGE_SIZE MAX_SIZE PIXEL_MEAN PIXEL_STD")
    | _group(
        "RPN",
        "ANCHOR_STRIDE ANCHOR_SIZES ANCHOR_RATIOS POSITIVE_ANCHOR_THRESH NEGATIVE_ANCHOR_THRESH "
        "FG_RATIO BATCH_PER_IM MIN_SIZE PROPOSAL_NMS_THRESH CROWD_OVERLAP_THRESH HEAD_DIM "
        "TRAIN_PRE_NMS_TOPK TRAIN_POST_NMS_TOPK TEST_PRE_NMS_TOPK TEST_POST_NMS_TOPK "
        "TRAIN_PER_LEVEL_NMS_TOPK TEST_PER_LEVEL_NMS_TOPK",
    )
    | _group("FRCNN", "BATCH_PER_IM BBOX_REG_WEIGHTS FG_THRESH FG_RATIO")
    | _group("FPN", "ANCHOR_STRIDES PROPOSAL_MODE NUM_CHANNEL NORM MRCNN_HEAD_FUNC")
    | _group("MRCNN", "HEAD_DIM")
    | _group("TEST", "FRCNN_NMS_THRESH RESULT_SCORE_THRESH RESULT_SCORE_THRESH_VIS RESULTS_PER_IM")
)
_SHARED_TEXTS = _group("FPN", "PROPOSAL_MODE NORM MRCNN_HEAD_FUNC")

TENSORPACK_KEYS = (
    _SHARED
    | _group("DATA", "ABSOLUTE_COORD FILTER_EMPTY_ANNOTATIONS NUM_WORKERS")
    | _group("TRAIN", "WARMUP")
    | _group("FPN", "FRCNN_HEAD_FUNC FRCNN_CONV_HEAD_DIM FRCNN_FC_HEAD_DIM CASCADE")
    | _group("MRCNN", "ACCURATE_PASTE")
    | _group("CASCADE", "IOUS BBOX_REG_WEIGHTS")
)
TENSORPACK_TEXTS = _SHARED_TEXTS | {"FPN.FRCNN_HEAD_FUNC"}
"""Those that hold a text; all others hold Python literals."""

AWS_SAMPLES_KEYS = (
    _SHARED
    | _group("TRAIN", "WARMUP_STEPS SEED GRADIENT_CLIP BACKBONE_NCHW FPN_NCHW RPN_NCHW MASK_NCHW")
    | _group("TRAIN", "SHOULD_STOP")
    | _group("PREPROC", "PREDEFINED_PADDING PADDING_SHAPES")
    | _group("RPN", "TOPK_PER_IMAGE UNQUANTIZED_ANCHOR SLOW_ACCURATE_MASK")
    | _group("FPN", "BOXCLASS_HEAD_FUNC BOXCLASS_CONV_HEAD_DIM BOXCLASS_FC_HEAD_DIM")
    | _group("TEST", "BOX_TARGET MASK_TARGET")
)
AWS_SAMPLES_TEXTS = _SHARED_TEXTS | {"FPN.BOXCLASS_HEAD_FUNC"}
"""Those that hold a text; all others hold Python literals."""
