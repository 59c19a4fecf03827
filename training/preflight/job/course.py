"""How far a planned training goes, on what, and in what time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from training.preflight.job.asked import Asked
from training.preflight.job.measured import Measured

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan
    from training.platforms.ec2.request import Ec2Request
    from training.platforms.eks.request import EksRequest


@dataclass(frozen=True, kw_only=True)
class Course:
    """What a pace is held against."""

    instance_type: str
    """As the job's own record will have it; SageMaker's with `ml.`."""
    instances: int
    world_size: int
    global_batch_size: int
    """Pictures in one step of all processes."""
    total_steps: int | None
    """None where the data's length decides."""
    total_epochs: float | None
    """None where `total_steps` says it."""
    max_run_s: int
    usd_per_hour: float | None
    """Of all that the job takes, on demand; None where that is not known."""

    def is_on_machines_of(self, pace: Measured) -> bool:
        """Return whether a pace is of the same type, number and processes."""
        before = (pace.instance_type, pace.instances, pace.world_size)
        return before == (self.instance_type, self.instances, self.world_size)

    @property
    def images(self) -> int | None:
        """All pictures of the schedule; None where only the data knows."""
        return None if self.total_steps is None else self.total_steps * self.global_batch_size

    @property
    def local_batch_size(self) -> int:
        """Pictures in one step of one process."""
        return self.global_batch_size // self.world_size

    def images_after(self, pace: Measured) -> float | None:
        """Return how many pictures are left after the last reading; None where that is not told.

        Args:
            pace: Of these machines.
        """
        epoch, steps = pace.readings[-1].epoch, pace.steps_done
        if steps is None:
            return None
        done = steps * self.global_batch_size
        if self.images is not None:
            return self.images - done
        if self.total_epochs is None or epoch <= 0:
            return None
        return (self.total_epochs / epoch - 1) * done


def course_of(job: Job, plan: Plan) -> Course | None:
    """Return how far a training goes.

    None of a trainer that does not measure its own pace, and of machines of different types. Of
    an elastic job the machines are those that it asks for.
    """
    rates, own = plan.learning_rates, job.hyperparameters
    machines = machines_of(plan)
    if rates is None or plan.algorithm != "horovod" or machines is None:
        return None
    epochs = getattr(own, "lr_epoch_schedule", None)
    of_each = getattr(own, "batch_size_per_gpu", 1) * getattr(own, "accumulation_steps", 1)
    instance_type, instances = machines
    return Course(
        instance_type=instance_type,
        instances=instances,
        world_size=rates.global_batch_size // of_each,
        global_batch_size=rates.global_batch_size,
        total_steps=rates.total_steps,
        total_epochs=epochs[-1][0] if epochs else None,
        max_run_s=job.spec.limits.max_run_s,
        usd_per_hour=plan.cost.per_hour,
    )


def machines_of(plan: Plan) -> tuple[str, int] | None:
    """Return type and number of the instances that train; None where their types differ."""
    if plan.platform == "eks":
        of_pods = cast("EksRequest", plan.request).on
        return of_pods.type, of_pods.workers
    if plan.platform == "ec2":
        on = cast("Ec2Request", plan.request).on
        is_mixed = on.head is not None and on.head_type != on.worker_type
        return None if is_mixed else (on.worker_type, on.hosts)
    asked = Asked.of(plan.request.to_json())
    return asked.instance_type, asked.instance_count
