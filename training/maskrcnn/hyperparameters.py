"""THE hyperparameters of the first-party trainer: names, types, ranges and defaults.

The launcher checks a job with this model, the trainer reads its file with it. It imports neither
torch nor anything slow. Values come as YAML or JSON has them, or as plain strings
(`FreezeBN`, `True`, `[(16, 0.1), (20, 0.01), (24, None)]`), which is how SageMaker passes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from training.errors import UsageError
from training.hyperparameter_types import (
    TEXT,
    WORD,
    Bool,
    Channels,
    Count,
    Counts,
    Float,
    Floats,
    Fraction,
    Int,
    LrEpochSchedule,
    LrSchedule,
    Names,
    Norm,
    OptionalCount,
    OptionalLayers,
    OptionalLimit,
    OptionalWord,
    read_text,
)
from training.maskrcnn.tensorpack_config import take_config
from training.validation import explain

DEFAULT_LR_EPOCH_SCHEDULE = ((16, 0.1), (20, 0.01), (24, None))
"""The reference's 24 epochs of COCO."""

PYRAMID_LEVELS = 5

C4_DEFAULTS = {"rpn_pre_nms_train": 12_000, "rpn_pre_nms_test": 6_000, "exact_geometry": True}
"""What the model without a pyramid takes instead: config.py and modeling/model_box.py of
tensorpack/tensorpack@db541e8, examples/FasterRCNN."""


class Hyperparameters(BaseModel):
    """Every knob of the trainer. Immutable; an unknown name is an error.

    `config:KEY` sets what TensorPack's configuration has under that key, where there is the same
    (`training.maskrcnn.tensorpack_config`).

    Give one of `lr_schedule` and `lr_epoch_schedule`; it also says how long training is. With
    neither, `lr_epoch_schedule` has the reference's 24 epochs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    # Model
    mode_fpn: Bool = True
    """A feature pyramid (FPN) on the backbone. False: R-CNN on C4, a ResNet's first four stages as
    backbone and its fifth as the head of boxes and masks."""
    mode_mask: Bool = True
    """Predict masks as well as boxes. False: Faster R-CNN, which trains and finds boxes only."""
    resnet_arch: Annotated[Literal["resnet18", "resnet50", "resnet101", "mobilenet"], WORD] = (
        "resnet50"
    )
    """The backbone. `mobilenet` is MobileNetV3-Small, for trials on a CPU."""
    batch_norm: Norm = "FreezeBN"
    """FreezeBN: constants from `backbone_weights`. SyncBN: statistics over the pictures of all
    ranks. GN: group norm, in pyramid and mask head too. None: batch norm over each rank's own
    pictures."""
    backbone_weights: OptionalWord = "torchvision"
    """`torchvision` (its ImageNet weights, downloaded), a file (a path, or a name in the train
    channel's `pretrained-models`), or None for random weights. A file holds torchvision's weights,
    or TensorPack's: `ImageNet-R50-AlignPadding.npz`."""
    load_model: OptionalWord = None
    """Begin with the weights of this checkpoint, `model.pt` or whole TensorPack model (`.npz`): a
    path, or a name in `pretrained-models`. Of a checkpoint the averaged weights, if it has them.
    Box and mask outputs for other categories are begun anew."""
    trainable_backbone_layers: OptionalLayers = None
    """How many stages of the backbone, from the top, are trained. None: 3 with
    `backbone_weights`, else all 5."""
    fpn_channels: Channels = 256
    """Channels of each level of the pyramid; no meaning without one."""
    box_head_channels: Channels = 1024
    """Width of the box head's two hidden layers; no meaning without a pyramid."""
    mask_head_channels: Channels = 256
    """Channels of the mask head's convolutions; without a pyramid, of its only one."""
    mask_head_layers: Count = 4
    """Number of 3x3 convolutions of the mask head; no meaning without a pyramid."""
    anchor_sizes: Counts = (32, 64, 128, 256, 512)
    """Square root of the anchors' area, in pixels of the resized picture: one each for the levels
    of stride 4, 8, 16, 32 and 64; without a pyramid any number, all of them at each place of stride
    16."""
    anchor_aspect_ratios: Annotated[Floats, Field(min_length=1)] = (0.5, 1.0, 2.0)
    """Height over width of the anchors."""
    rpn_batch_per_image: Count = 256
    """Anchors of a picture that the proposal losses see."""
    rpn_pre_nms_train: Count = 2000
    """Proposals a level that enter non-maximum suppression, in training. Without a pyramid there is
    one level: 12000."""
    rpn_post_nms_train: Count = 2000
    """Proposals a picture that leave it, in training."""
    rpn_pre_nms_test: Count = 1000
    """The same before suppression, in evaluation. Without a pyramid 6000."""
    rpn_post_nms_test: Count = 1000
    """The same after suppression, in evaluation."""
    roi_batch_per_image: Count = 512
    """Proposals of a picture that the box losses see; at most a quarter are foreground."""
    roi_sampling_ratio: Count = 2
    """Each cell that is pooled from the features averages so many samples a side; 1 is quicker,
    and enough for small pictures."""
    exact_geometry: Bool = False
    """False: as in torchvision, whose anchors are rounded to pixels and whose proposals are pooled
    half a cell off. True: both as defined, as in TensorPack, whose whole models need it. Without a
    pyramid True."""
    score_threshold: Fraction = 0.05
    """Detections with a lower score are dropped."""
    detections_per_image: Count = 100
    """At most this many detections of a picture, the best first."""

    # Data
    data_train: Names = ("train2017",)
    """Splits to train on, together."""
    data_val: Names = ("val2017",)
    """Splits to evaluate, one after the other."""
    images_per_epoch: OptionalCount = None
    """Pictures in what is called an epoch. None: the number of pictures trained on, each counted
    once, whatever `repeat_threshold` is."""
    image_short_sides: Counts = (800,)
    """A picture is scaled so that its short side is one of these, drawn each time; pixels.
    Evaluation takes the largest."""
    short_side_sampling: Annotated[Literal["choice", "range"], WORD] = "choice"
    """choice: one of `image_short_sides`. range: any number from the first of two to the second,
    as TensorPack's TRAIN_SHORT_EDGE_SIZE."""
    image_max_side: Count = 1333
    """The long side is at most this; pixels."""
    flip_probability: Fraction = 0.5
    """Share of the training pictures that are mirrored left to right."""
    aspect_ratio_grouping: Bool = True
    """Put pictures of like proportions into one batch, which pads them less. Each still comes once
    in each pass."""
    repeat_threshold: Annotated[
        Annotated[float, Field(strict=True, gt=0, le=1, allow_inf_nan=False)] | None, TEXT
    ] = None
    """Show pictures of rare categories more often: of a category that the share f of the pictures
    has, sqrt(threshold / f) times in a pass, where that is more than once (LVIS's repeat factor
    sampling; 0.001 there). None: each once."""
    empty_pictures: Annotated[Literal["skip", "train"], WORD] = "skip"
    """Pictures without an object to train on: leave out, as the reference does, or train on
    their background."""
    bad_annotations: Annotated[Literal["skip", "stop"], WORD] = "stop"
    """Boxes without area or out of the frame, unusable outlines: stop before the start, or skip
    and count them. COCO's own train2017 has two, so that it wants skip."""
    max_broken_pictures: Annotated[Int, Field(ge=0)] = 10
    """Pictures that cannot be decoded are replaced by others; with more of them the job fails."""
    shuffle: Annotated[Literal["pictures", "shards"], WORD] = "pictures"
    """The order of each pass over the data. pictures: any order. shards: a few shards of packed
    pictures at a time, which is quicker where reading is quick in sequence only."""
    num_workers: Annotated[Int, Field(ge=0, le=64)] = 4
    """Processes of each rank that load pictures. 0: the rank loads them itself."""

    # Schedule and optimizer
    batch_size_per_gpu: Count = 4
    """Pictures that one rank takes at once: in one step, unless it takes several batches."""
    accumulation_steps: Count = 1
    """Batches of each rank in one step. The gradient is the mean of theirs: a large global batch
    in little memory."""
    precision: Annotated[Literal["fp32", "bf16", "fp16"], WORD] = "bf16"
    """Arithmetic of the network. bf16 and fp16 are mixed with fp32; fp16 needs a GPU."""
    compile: Bool = False
    """Compile backbone, pyramid and proposal head with torch.compile. For GPUs: the first steps
    take minutes, those after them less time than without."""
    padding_multiple: Annotated[Int, Field(ge=32, multiple_of=32)] = 32
    """Height and width of a batch are padded to a multiple of this, in pixels. 128 leaves few
    shapes, which `compile` and cuDNN prepare for one by one; 800 x 1066 then has a fifth more."""
    lr_schedule: Annotated[LrSchedule | None, TEXT] = None
    """Steps at which the rate falls to a tenth, the last of them the end: in steps of 8 pictures
    (TensorPack's convention, one picture on each of 8 GPUs), whatever the batch is."""
    lr_epoch_schedule: Annotated[LrEpochSchedule | None, TEXT] = None
    """Pairs of an epoch and the multiple of the base rate from there on; the last pair has None
    and ends the training."""
    base_learning_rate: Annotated[Float, Field(gt=0)] = 0.01
    """Learning rate at `reference_batch_size`; it grows in proportion to the global batch."""
    reference_batch_size: Count = 8
    """Global batch, in pictures, at which the rate is `base_learning_rate`."""
    warmup_steps: Annotated[Int, Field(ge=0)] = 1000
    """Steps in which the rate grows linearly to its value; not converted."""
    warmup_factor: Fraction = 0.33
    """Share of the rate with which the first step begins."""
    optimizer: Annotated[Literal["sgd", "adamw", "lars"], WORD] = "sgd"
    """lars: sgd with a rate for each layer, for large global batches."""
    momentum: Annotated[Float, Field(ge=0, lt=1)] = 0.9
    """Momentum of sgd and lars; the first beta of adamw."""
    lars_trust_coefficient: Annotated[Float, Field(gt=0)] = 0.001
    """How much of a layer's norm one step of lars at rate 1 may change. `base_learning_rate` is
    some fifty times that of sgd then."""
    ema_decay: Annotated[
        Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)] | None, TEXT
    ] = None
    """Evaluate and save a moving average of the weights, which keeps this share of itself in each
    step, 0.999 for example. None: the weights themselves."""
    weight_decay: Annotated[Float, Field(ge=0)] = 1e-4
    """Of weights only: biases and norms do not decay."""
    gradient_clip: OptionalLimit = None
    """Largest norm of the gradient of all parameters together. None: no limit."""
    seed: Annotated[Int, Field(ge=0, lt=2**32)] = 0
    """Of initial weights, order of pictures, augmentation and sampling."""

    # Ranks
    log_ranks: Annotated[Literal["first", "all"], WORD] = "first"
    """Which ranks show their progress; with all, each its own waiting for data and memory."""
    gradient_compression: Annotated[Literal["none", "fp16", "bf16"], WORD] = "none"
    """The type in which gradients are added up over ranks; bf16 with `--engine torch` only."""
    horovod_fusion_threshold: Annotated[Annotated[int, Field(strict=True, ge=0)] | None, TEXT] = (
        None
    )
    """Horovod adds up gradients in buffers of so many bytes. None: 128 MiB."""
    horovod_cycle_time: OptionalLimit = None
    """Milliseconds between two rounds of Horovod's exchange. None: 1, or 5 without GPUs."""
    horovod_hierarchical_allreduce: Bool = False
    """Horovod adds up gradients within each host first, then between hosts; NCCL builds only."""

    # Periods
    eval_period: Count = 1
    """Epochs between evaluations; the end is always evaluated."""
    log_period: Count = 20
    """Steps between lines of metrics."""
    tensorboard_pictures: Annotated[Int, Field(ge=0, le=64)] = 8
    """Pictures of each split of `data_val` that TensorBoard shows after an evaluation, the truth
    beside what was predicted. 0: none."""
    checkpoint_period: OptionalCount = None
    """Steps between checkpoints. None: at the end of each epoch."""
    keep_checkpoints: Count = 3
    """Checkpoints that are kept, the newest. The best weights are in model-best.pt besides."""

    def weight_files(self) -> dict[str, str]:
        """Return the files that the job begins with: name of the hyperparameter to file."""
        if self.load_model is not None:
            return {"load_model": self.load_model}
        if self.backbone_weights in {None, "torchvision"}:
            return {}
        return {"backbone_weights": str(self.backbone_weights)}

    @model_validator(mode="before")
    @classmethod
    def _default_schedule(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        schedules = ("lr_schedule", "lr_epoch_schedule")
        if any(read_text(values.get(name)) is not None for name in schedules):
            return values
        return {**values, "lr_epoch_schedule": DEFAULT_LR_EPOCH_SCHEDULE}

    @model_validator(mode="before")
    @classmethod
    def _default_of_c4(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and read_text(values.get("mode_fpn")) is False:
            return {**C4_DEFAULTS, **values}
        return values

    @model_validator(mode="before")
    @classmethod
    def _take_config(cls, values: Any) -> Any:
        """The last of its kind here, so that it comes before the others."""
        return take_config(values) if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.lr_schedule is not None and self.lr_epoch_schedule is not None:
            raise ValueError("lr_schedule and lr_epoch_schedule: give one, not both")
        if self.image_max_side < max(self.image_short_sides):
            raise ValueError(
                f"image_max_side {self.image_max_side} is less than the largest of "
                f"image_short_sides, {max(self.image_short_sides)}; raise it"
            )
        sides = self.image_short_sides
        if self.short_side_sampling == "range" and (len(sides) != 2 or sides[0] > sides[1]):
            raise ValueError(
                f"image_short_sides {list(sides)}: with short_side_sampling range give the "
                "smallest and the largest, for example [640, 800]"
            )
        if self.mode_fpn and len(self.anchor_sizes) != PYRAMID_LEVELS:
            raise ValueError(
                f"anchor_sizes {list(self.anchor_sizes)}: give {PYRAMID_LEVELS}, one for each "
                "level of the pyramid; only mode_fpn False takes any number"
            )
        if not self.mode_fpn and self.resnet_arch == "mobilenet":
            raise ValueError(
                "mode_fpn False: the head is the fifth stage of a ResNet; with resnet_arch "
                "mobilenet keep mode_fpn True, or choose resnet18, resnet50 or resnet101"
            )
        begins_with_imagenet = self.load_model is None and self.backbone_weights == "torchvision"
        if self.batch_norm == "GN" and begins_with_imagenet:
            raise ValueError(
                "backbone_weights: torchvision's weights belong to batch norm; with batch_norm GN "
                "give None or a file with weights for group norm"
            )
        return self


def read_hyperparameters(values: Any, *, source: str) -> Hyperparameters:
    """Check a map of names to values.

    Raises:
        UsageError: One line for each value that is wrong: place, name, value, what is allowed.
    """
    if not isinstance(values, Mapping):
        raise UsageError(f"{source}: expected a map of hyperparameter names to values")
    try:
        return Hyperparameters.model_validate(dict(values))
    except ValidationError as error:
        lines = explain(error, Hyperparameters)
        raise UsageError("\n".join(f"{source}: {line}" for line in lines)) from error
