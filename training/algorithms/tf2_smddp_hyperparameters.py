"""The hyperparameters of `tf2-smddp`, see `training.algorithms.tf2_smddp`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from training.hyperparameter_types import (
    TEXT,
    WORD,
    Bool,
    Count,
    File,
    Float,
    Int,
    LrSchedule,
    Name,
)


class Tf2SmddpHyperparameters(BaseModel):
    """Immutable; an unknown name is an error.

    Names and defaults are those of the original's notebook
    (aws/amazon-sagemaker-examples@f66773d, tensorflow2_smdataparallel_maskrcnn_demo.ipynb).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    mode: Annotated[Literal["train", "train_and_eval"], WORD] = "train"
    """train_and_eval: evaluate every `num_steps_per_eval` steps, and write a checkpoint."""
    data_train: Annotated[Name, WORD] = "train2017"
    """Split to train on, as TFRecords: `<split>-*.tfrecord` in the train channel."""
    data_val: Annotated[Name, WORD] = "val2017"
    """Split to evaluate, as TFRecords, with its annotations."""
    checkpoint: File = "resnet-nhwc-2018-02-07"
    """Weights of the backbone: a folder of the train channel's `pretrained-models` with a
    checkpoint of Google's ResNet-50."""
    init_learning_rate: Annotated[Float, Field(gt=0)] = 0.04
    """The rate after warm-up. It does not grow with the number of GPUs."""
    learning_rate_steps: Annotated[LrSchedule, Field(min_length=2, max_length=2), TEXT] = (
        3750,
        5000,
    )
    """The two steps after which the rate falls to a tenth and a hundredth."""
    total_steps: Count = 500
    """Steps of the whole training; each is one global batch."""
    train_batch_size: Count = 4
    """Pictures of one GPU in one step."""
    eval_samples: Count = 5000
    """Pictures to evaluate."""
    eval_batch_size: Count = 8
    """Pictures in one step of evaluation."""
    num_steps_per_eval: Count = 462
    """Steps between evaluations."""
    eval_after_training: Bool = False
    """Evaluate at the end, in mode train."""
    amp: Bool = True
    """Mixed precision: fp16 and fp32."""
    xla: Bool = True
    """Compile with XLA."""
    use_batched_nms: Bool = True
    """Non-maximum suppression for all categories at once, in evaluation."""
    seed: Annotated[Int, Field(ge=0, lt=2**31)] = 987
    """Of initial weights and the order of pictures."""
    bucket_cap_mb: Count = 64
    """Gradients are exchanged in buffers of so many MB."""

    def weight_files(self) -> dict[str, str]:
        """Return the files that the job begins with: name of the hyperparameter to file."""
        return {"checkpoint": f"{self.checkpoint}/checkpoint"}

    @model_validator(mode="after")
    def _check_samples(self) -> Self:
        if self.eval_samples < self.eval_batch_size:
            raise ValueError(
                f"eval_samples {self.eval_samples} is less than eval_batch_size "
                f"{self.eval_batch_size}; raise it"
            )
        return self
