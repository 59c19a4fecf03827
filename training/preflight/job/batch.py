"""Whether a rank's batch fits into the memory of its GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from training.instances import Gpu, known_instance
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import Asked

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan
    from training.platforms.ec2.request import Ec2Request
    from training.platforms.eks.request import EksRequest
    from training.preflight.job.trainer_memory import TrainerMemory

KEY = "hyperparameters.batch_size_per_gpu"


@dataclass(frozen=True)
class BatchFitsOnTheGpu(Check):
    """The trainer's weights and what it keeps of a batch fit into the GPU's memory."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "batch-over-gpu-memory": "error",
        "batch-near-gpu-memory": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ()

    memory: TrainerMemory
    batch: int
    """Pictures of one rank at once."""
    gpu: Gpu

    def find(self) -> Iterator[Finding]:
        there = self.gpu.memory_mib * 2**20
        least, most = self.memory.at_least(self.batch), self.memory.at_most(self.batch)
        of_gpu = f"a {self.gpu.model} has {_gib(there)}"
        if least > there:
            yield self.found(
                "batch-over-gpu-memory",
                KEY,
                f"{KEY} is {self.batch}: weights, optimizer and what is kept of so many of the "
                f"smallest pictures are {_gib(least)}, and {of_gpu}. {self._advice(there)}",
            )
        elif most > there:
            yield self.found(
                "batch-near-gpu-memory",
                KEY,
                f"{KEY} is {self.batch}: weights, optimizer, gradients and what is kept of so many "
                f"of the largest pictures are {_gib(most)}, of the smallest {_gib(least)}, and "
                f"{of_gpu}: the job may run out of memory at any step. {self._advice(there)}",
            )

    def _advice(self, there: int) -> str:
        fitting = self.memory.batch_for(there)
        others = "or smaller pictures (image_short_sides, image_max_side), or a GPU with more"
        if fitting < 1:
            return f"Take fewer trained layers, {others}"
        return (
            f"Take {fitting} or fewer (kernels and fragments need some besides) and more "
            f"accumulation_steps, {others}"
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


def checks_of_batch(job: Job, plan: Plan) -> Iterator[Check]:
    """Yield the check of the batch, where GPU and trainer are known."""
    gpu = _smallest_gpu(plan)
    if gpu is None or plan.algorithm != "horovod":
        return
    from training.maskrcnn.hyperparameters import Hyperparameters
    from training.preflight.job.trainer_memory import trainer_memory

    own = cast(Hyperparameters, job.hyperparameters)
    memory = trainer_memory(own)
    if memory is not None:
        yield BatchFitsOnTheGpu(memory, own.batch_size_per_gpu, gpu)


def _smallest_gpu(plan: Plan) -> Gpu | None:
    """Return the GPU of the job's machines; None where they have none that is known."""
    if plan.platform == "eks":
        nodes = [cast("EksRequest", plan.request).on.instance]
    elif plan.platform == "ec2":
        on = cast("Ec2Request", plan.request).on
        nodes = [each for each in (on.worker, on.head) if each is not None]
    else:
        instance = known_instance(Asked.of(plan.request.to_json()).instance_type)
        nodes = [instance] if instance else []
    return min((each.gpu for each in nodes), key=lambda gpu: gpu.memory_mib, default=None)
