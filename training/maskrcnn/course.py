"""How far a run is, and what is due there."""

from __future__ import annotations

from dataclasses import dataclass

from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.schedule import Schedule


@dataclass
class Position:
    """How far a run is: with weights and seed, all that its future depends on.

    Pictures say where it is, whatever the number of ranks was in the steps before.
    """

    step: int = 0
    """Steps taken; those before a change of the number of ranks had other batches."""
    images: int = 0
    """Pictures that all ranks together have seen."""
    images_at_evaluation: int = 0
    """`images` at the last evaluation."""
    best_score: float | None = None
    """The largest mAP of an evaluation so far."""
    best_step: int = 0
    """Step of that evaluation."""


class Course:
    """A position on the way through a schedule."""

    def __init__(
        self, schedule: Schedule, hyperparameters: Hyperparameters, position: Position
    ) -> None:
        self._schedule = schedule
        self._hyperparameters = hyperparameters
        self.position = position

    def advance(self) -> None:
        """Count a step."""
        self.position.step += 1
        self.position.images += self._schedule.global_batch_size

    @property
    def learning_rate(self) -> float:
        """The rate of the next step."""
        return self._schedule.learning_rate_at(self._steps_of_now())

    @property
    def last_learning_rate(self) -> float:
        """The rate of the step before."""
        return self._schedule.learning_rate_at(self._steps_of_now() - 1)

    @property
    def epoch(self) -> float:
        """Epochs done."""
        return self.position.images / self._schedule.images_per_epoch

    @property
    def images_left(self) -> int:
        return max(0, self._schedule.total_images - self.position.images)

    @property
    def last_step(self) -> int:
        """The number of the last step, if the number of ranks stays."""
        return self.position.step - (-self.images_left // self._schedule.global_batch_size)

    @property
    def is_done(self) -> bool:
        return self.images_left == 0

    @property
    def is_log_due(self) -> bool:
        return self.position.step % self._hyperparameters.log_period == 0 or self.is_done

    @property
    def is_evaluation_due(self) -> bool:
        done, before = self.position.images, self.position.images_at_evaluation
        period = self._hyperparameters.eval_period * self._schedule.images_per_epoch
        return done // period > before // period or (self.is_done and done > before)

    @property
    def is_checkpoint_due(self) -> bool:
        period = self._hyperparameters.checkpoint_period
        if self.is_done:
            return True
        if period is not None:
            return self.position.step % period == 0
        before = self.position.images - self._schedule.global_batch_size
        epoch = self._schedule.images_per_epoch
        return self.position.images // epoch > before // epoch

    def is_best(self, score: float) -> bool:
        """Tell whether the mAP of an evaluation here is larger than all before it."""
        best = self.position.best_score
        # The same evaluation made again, after a resume, is still the best.
        return best is None or score > best or self.position.best_step == self.position.step

    def take_score(self, score: float) -> None:
        """Note an evaluation's mAP."""
        self.position.images_at_evaluation = self.position.images
        if self.is_best(score):
            self.position.best_score, self.position.best_step = score, self.position.step

    def _steps_of_now(self) -> int:
        """Return how many steps of today's global batch have seen what was seen."""
        return self.position.images // self._schedule.global_batch_size
