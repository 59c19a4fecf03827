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
    only_true,
    read_text,
)
from training.validation import explain

DEFAULT_LR_EPOCH_SCHEDULE = ((16, 0.1), (20, 0.01), (24, None))
"""The reference's 24 epochs of COCO."""


class Hyperparameters(BaseModel):
    """Every knob of the trainer. Immutable; an unknown name is an error.

    Give one of `lr_schedule` and `lr_epoch_schedule`; it also says how long training is. With
    neither, `lr_epoch_schedule` has the reference's 24 epochs.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )

    # Model
    mode_fpn: Annotated[Literal[True], only_true("the model has a feature pyramid")] = True
    """A feature pyramid (FPN) on the backbone. Only True."""
    mode_mask: Annotated[Literal[True], only_true("the model predicts masks")] = True
    """Predict masks as well as boxes. Only True."""
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
    channel's `pretrained-models`), or None for random weights."""
    load_model: OptionalWord = None
    """Begin with the weights of this checkpoint or `model.pt`: a path, or a name in
    `pretrained-models`. Box and mask outputs for other categories are begun anew."""
    trainable_backbone_layers: OptionalLayers = None
    """How many stages of the backbone, from the top, are trained. None: 3 with
    `backbone_weights`, else all 5."""
    fpn_channels: Channels = 256
    """Channels of each level of the pyramid."""
    box_head_channels: Channels = 1024
    """Width of the box head's two hidden layers."""
    mask_head_channels: Channels = 256
    """Channels of the mask head's convolutions."""
    mask_head_layers: Count = 4
    """Number of 3x3 convolutions of the mask head."""
    anchor_sizes: Annotated[Counts, Field(min_length=5, max_length=5)] = (32, 64, 128, 256, 512)
    """Square root of the anchors' area on levels of stride 4, 8, 16, 32 and 64, in pixels of the
    resized picture."""
    anchor_aspect_ratios: Annotated[Floats, Field(min_length=1)] = (0.5, 1.0, 2.0)
    """Height over width of the anchors."""
    rpn_batch_per_image: Count = 256
    """Anchors of a picture that the proposal losses see."""
    rpn_pre_nms_train: Count = 2000
    """Proposals a level that enter non-maximum suppression, in training."""
    rpn_post_nms_train: Count = 2000
    """Proposals a picture that leave it, in training."""
    rpn_pre_nms_test: Count = 1000
    """The same before suppression, in evaluation."""
    rpn_post_nms_test: Count = 1000
    """The same after suppression, in evaluation."""
    roi_batch_per_image: Count = 512
    """Proposals of a picture that the box losses see; at most a quarter are foreground."""
    roi_sampling_ratio: Count = 2
    """Each cell that is pooled from the features averages so many samples a side; 1 is quicker,
    and enough for small pictures."""
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
    """Pictures in what is called an epoch. None: the number of pictures trained on."""
    image_short_sides: Counts = (800,)
    """A picture is scaled so that its short side is one of these, drawn each time; pixels.
    Evaluation takes the largest."""
    image_max_side: Count = 1333
    """The long side is at most this; pixels."""
    flip_probability: Fraction = 0.5
    """Share of the training pictures that are mirrored left to right."""
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
    """Pictures of one rank in one step."""
    precision: Annotated[Literal["fp32", "bf16", "fp16"], WORD] = "bf16"
    """Arithmetic of the network. bf16 and fp16 are mixed with fp32; fp16 needs a GPU."""
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
    optimizer: Annotated[Literal["sgd", "adamw"], WORD] = "sgd"
    momentum: Annotated[Float, Field(ge=0, lt=1)] = 0.9
    """Momentum of sgd; the first beta of adamw."""
    weight_decay: Annotated[Float, Field(ge=0)] = 1e-4
    """Of weights only: biases and norms do not decay."""
    gradient_clip: OptionalLimit = None
    """Largest norm of the gradient of all parameters together. None: no limit."""
    seed: Annotated[Int, Field(ge=0, lt=2**32)] = 0
    """Of initial weights, order of pictures, augmentation and sampling."""

    # Periods
    eval_period: Count = 1
    """Epochs between evaluations; the end is always evaluated."""
    log_period: Count = 20
    """Steps between lines of metrics."""
    checkpoint_period: OptionalCount = None
    """Steps between checkpoints. None: at the end of each epoch."""
    keep_checkpoints: Count = 3
    """Checkpoints that are kept, the newest."""

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

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.lr_schedule is not None and self.lr_epoch_schedule is not None:
            raise ValueError("lr_schedule and lr_epoch_schedule: give one, not both")
        if self.image_max_side < max(self.image_short_sides):
            raise ValueError(
                f"image_max_side {self.image_max_side} is less than the largest of "
                f"image_short_sides, {max(self.image_short_sides)}; raise it"
            )
        if self.batch_norm == "GN" and self.backbone_weights == "torchvision":
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
