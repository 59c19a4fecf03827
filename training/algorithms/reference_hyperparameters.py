"""What the hyperparameters of `tensorpack` and `aws-samples` share.

Names and defaults are those of the entry scripts of the original tutorial
(aws/amazon-sagemaker-examples@6e42d82, advanced_functionality/distributed_tensorflow_mask_rcnn).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from training.config_keys import PREFIX, check_config, split_config
from training.errors import UsageError
from training.hyperparameter_types import WORD, Bool, Count, File, Float, Int, Norm, OptionalFile

_OWN_KEYS: Mapping[str, str] = {
    "MODE_FPN": "use the hyperparameter mode_fpn",
    "MODE_MASK": "use the hyperparameter mode_mask",
    "BACKBONE.RESNET_NUM_BLOCKS": "use the hyperparameter resnet_arch",
    "BACKBONE.WEIGHTS": "use the hyperparameter backbone_weights",
    "BACKBONE.NORM": "use the hyperparameter batch_norm",
    "DATA.BASEDIR": "it is the train channel; see channels.train of the job",
    "DATA.TRAIN": "use the hyperparameter data_train",
    "DATA.VAL": "use the hyperparameter data_val",
    "TRAIN.EVAL_PERIOD": "use the hyperparameter eval_period",
    "TRAIN.NUM_GPUS": "it is the number of processes; see instances of the job",
    "TRAIN.STARTING_EPOCH": "it follows from the checkpoint that the job goes on from",
    "TRAINER": "it is horovod",
}


class ReferenceHyperparameters(BaseModel):
    """Immutable; an unknown name is an error, except `config:KEY`."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    KEYS: ClassVar[frozenset[str]] = frozenset()
    """Keys of the implementation's configuration that `config:KEY` may set."""
    TEXT_KEYS: ClassVar[frozenset[str]] = frozenset()
    """Those that hold a text; all others hold Python literals."""
    OWN_KEYS: ClassVar[Mapping[str, str]] = _OWN_KEYS
    """Its other keys, and how they are set."""
    OTHERS: ClassVar[Mapping[str, str]] = {}
    """Hyperparameters of other algorithms that this one lacks, and what to do instead."""

    mode_mask: Bool = True
    """Predict masks as well as boxes."""
    resnet_arch: Annotated[Literal["resnet50", "resnet101"], WORD] = "resnet50"
    """The backbone; give `backbone_weights` that belong to it."""
    batch_norm: Norm = "FreezeBN"
    """FreezeBN: constants from `backbone_weights`. SyncBN: statistics over all GPUs. GN: group
    norm. None: no normalization in the backbone."""
    backbone_weights: File = "ImageNet-R50-AlignPadding.npz"
    """A file in the train channel's `pretrained-models`, for example from
    http://models.tensorpack.com/#FasterRCNN."""
    load_model: OptionalFile = None
    """Begin with the weights of this file of `pretrained-models`: an `.npz`, or a checkpoint's
    name without `.index` and `.data-…`. It replaces `backbone_weights`."""
    images_per_epoch: Count = 120_000
    """Pictures in what is called an epoch."""
    eval_period: Count = 1
    """Epochs between evaluations; the end is always evaluated."""
    horovod_cycle_time: Annotated[Float, Field(gt=0)] = 0.5
    """Milliseconds between two rounds of Horovod's exchange."""
    horovod_fusion_threshold: Annotated[Int, Field(ge=0)] = 67_108_864
    """Gradients are exchanged in buffers of so many bytes."""
    nccl_min_rings: Count = 8
    """NCCL_MIN_NRINGS."""
    config: dict[str, str] = Field(default_factory=dict)
    """`config:KEY`: a key of the implementation's own configuration, such as
    `config:TRAIN.BASE_LR`; values as Python writes them."""

    def config_number(self, key: str, default: float) -> float:
        """Return what `config:KEY` sets, else the implementation's default.

        Raises:
            UsageError: It sets no number.
        """
        text = self.config.get(key, str(default))
        try:
            return float(text)
        except ValueError:
            raise UsageError(
                f"hyperparameters.{PREFIX}{key}: {text}: expected a number; without it the "
                f"implementation takes {default:g}"
            ) from None

    def weight_files(self) -> dict[str, str]:
        """Return the files that the job begins with: name of the hyperparameter to file."""
        if self.load_model is not None:
            return {"load_model": self.load_model}
        return {"backbone_weights": self.backbone_weights}

    @model_validator(mode="before")
    @classmethod
    def _take_config(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        for name, instead in cls.OTHERS.items():
            if name in values:
                raise ValueError(f"{name}: {instead}")
        own, config = split_config(values)
        if "config" in own:
            raise ValueError("config: name the key, for example config:TRAIN.BASE_LR")
        checked = check_config(config, known=cls.KEYS, texts=cls.TEXT_KEYS, set_by=cls.OWN_KEYS)
        return {**own, "config": checked}

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        unused = self.load_model is not None
        if self.resnet_arch == "resnet101" and "R50" in self.backbone_weights and not unused:
            raise ValueError(
                f"backbone_weights: {self.backbone_weights} is for resnet50; give weights for "
                "resnet101, for example ImageNet-R101-AlignPadding.npz"
            )
        return self

    @model_serializer(mode="wrap")
    def _flatten_config(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Give `config:KEY` back as it came."""
        values: dict[str, Any] = serialize(self)
        config = values.pop("config")
        return {**values, **{f"{PREFIX}{key}": text for key, text in config.items()}}
