"""What Horovod cannot do, for plans too: those do not import it."""

from __future__ import annotations

from training.maskrcnn.hyperparameters import Hyperparameters

NO_BF16 = "gradient_compression: 'bf16': Horovod cannot add up bf16; choose fp16 or none"
NO_HIERARCHY = (
    "horovod_hierarchical_allreduce: True: needs a Horovod that is built with NCCL, for GPUs; "
    "leave it out, or set it to false"
)


def impossible_options(hyperparameters: Hyperparameters, *, has_nccl: bool) -> list[str]:
    """Return a line for each hyperparameter that Horovod cannot do.

    Args:
        has_nccl: Horovod adds up gradients on GPUs.
    """
    lines = []
    if hyperparameters.gradient_compression == "bf16":
        lines.append(NO_BF16)
    if hyperparameters.horovod_hierarchical_allreduce and not has_nccl:
        lines.append(NO_HIERARCHY)
    return lines
