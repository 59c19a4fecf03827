"""How many GPUs the TensorFlow 1 implementations train on."""

from __future__ import annotations

from training.errors import UsageError


def check_gpu_count(algorithm: str, world_size: int) -> None:
    """Refuse a number of GPUs that TensorPack's `finalize_configs` would refuse in the job.

    Source: config.py of both implementations.

    Raises:
        UsageError: It is not 1, 2, 4 or a multiple of 8.
    """
    if world_size in {1, 2, 4} or world_size % 8 == 0:
        return
    raise UsageError(
        f"{world_size} GPUs: algorithm {algorithm} trains on 1, 2, 4 or a multiple of 8; "
        "change instances.count, instances.type or instances.processes_per_instance"
    )
