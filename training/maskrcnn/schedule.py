"""How long training is, and the learning rate of each step: pure functions of step numbers.

Nothing is remembered from step to step, so that a resumed run has the rates of an unbroken one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from training.maskrcnn.hyperparameters import Hyperparameters

TENSORPACK_BATCH = 8
"""Pictures in one step of `lr_schedule`: TensorPack counts steps on 8 GPUs, a picture each."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The course of one training run at one global batch size."""

    total_steps: int
    total_images: int
    """After which training ends; the last step may see more."""
    images_per_epoch: int
    global_batch_size: int
    learning_rate: float
    """The rate after warm-up and before the first drop, scaled to the global batch."""
    drops: tuple[tuple[int, float], ...]
    """Step from which on the rate is multiplied, and by what; multiples of `learning_rate`."""
    warmup_steps: int
    warmup_factor: float

    def learning_rate_at(self, step: int) -> float:
        """Return the rate of a step; the first step is 0."""
        multiplier = 1.0
        for begin, value in self.drops:
            if step >= begin:
                multiplier = value
        return self.learning_rate * multiplier * self._warmup_at(step)

    def epoch_at(self, steps_done: int) -> float:
        """Return how many epochs are done after so many steps."""
        return steps_done * self.global_batch_size / self.images_per_epoch

    def _warmup_at(self, step: int) -> float:
        if step >= self.warmup_steps:
            return 1.0
        return self.warmup_factor + (1 - self.warmup_factor) * step / self.warmup_steps


def make_schedule(
    hyperparameters: Hyperparameters, *, world_size: int, images_per_epoch: int
) -> Schedule:
    """Plan the run: the same pictures are seen and the rate drops at the same picture, whatever
    the global batch is.

    Args:
        images_per_epoch: The hyperparameter of that name, or the number of pictures.
    """
    local_batch = hyperparameters.batch_size_per_gpu * hyperparameters.accumulation_steps
    global_batch = local_batch * world_size
    drops, total_images = _drops_in_images(hyperparameters, images_per_epoch)
    return Schedule(
        total_steps=_steps(total_images, global_batch),
        total_images=total_images,
        images_per_epoch=images_per_epoch,
        global_batch_size=global_batch,
        learning_rate=hyperparameters.base_learning_rate
        * global_batch
        / hyperparameters.reference_batch_size,
        drops=tuple((_steps(images, global_batch), value) for images, value in drops),
        warmup_steps=hyperparameters.warmup_steps,
        warmup_factor=hyperparameters.warmup_factor,
    )


def _drops_in_images(
    hyperparameters: Hyperparameters, images_per_epoch: int
) -> tuple[Sequence[tuple[int, float]], int]:
    """Return the pictures after which the rate changes and to what, and the pictures in all."""
    if hyperparameters.lr_schedule is not None:
        *drops, end = (steps * TENSORPACK_BATCH for steps in hyperparameters.lr_schedule)
        return [(at, 0.1 ** (index + 1)) for index, at in enumerate(drops)], end
    assert hyperparameters.lr_epoch_schedule is not None
    *pairs, (last_epoch, _) = hyperparameters.lr_epoch_schedule
    return (
        [(epoch * images_per_epoch, value) for epoch, value in pairs if value is not None],
        last_epoch * images_per_epoch,
    )


def _steps(images: int, global_batch: int) -> int:
    """Return the number of steps that see at least so many pictures."""
    return -(-images // global_batch)
