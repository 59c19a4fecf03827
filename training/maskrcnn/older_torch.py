"""What the trainer takes from newer versions of torch, for those that lack it.

All of it runs with the torch of requirements-train.txt. SageMaker's data parallel library comes
with torch 2.3.0 (`training.images.base_images.PYTORCH_SMDDP`), which is the oldest that is meant
here. Each entry names the version from which on it is not needed; when no image has an older one,
the entry goes, and with the last this file.

One thing cannot be made up for: before torch 2.6 a file that torch.load reads with
`weights_only=True` can execute code all the same (CVE-2025-32434).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

# torch 2.6: torch.nn.utils.get_total_norm, torch.nn.utils.clip_grads_with_norm_


@torch.no_grad()
def own_total_norm(tensors: Iterable[Tensor]) -> Tensor:
    """Return the norm of all numbers together, to the bit as torch does on one device."""
    listed = list(tensors)
    if not listed:
        return torch.tensor(0.0)
    norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(listed)))
    return norm


@torch.no_grad()
def own_clip_grads_with_norm_(
    parameters: Sequence[nn.Parameter], max_norm: float, total_norm: Tensor
) -> None:
    """Scale gradients down to a norm, to the bit as torch does on one device."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    if gradients:
        # 1e-6: torch's own, against a division by zero.
        torch._foreach_mul_(gradients, torch.clamp(max_norm / (total_norm + 1e-6), max=1.0))


get_total_norm: Callable[[Iterable[Tensor]], Tensor] = getattr(
    nn.utils, "get_total_norm", own_total_norm
)
clip_grads_with_norm_: Callable[[Sequence[nn.Parameter], float, Tensor], None] = getattr(
    nn.utils, "clip_grads_with_norm_", own_clip_grads_with_norm_
)


# torch 2.5: torch.serialization.safe_globals


def safe_globals(classes: Sequence[Any]) -> AbstractContextManager[Any]:
    """Inside, torch.load also makes objects of these classes; before, it refuses all of them."""
    known: Callable[[list[Any]], AbstractContextManager[Any]] | None = getattr(
        torch.serialization, "safe_globals", None
    )
    return nullcontext() if known is None else known(list(classes))


# torch 2.4: fused optimizers on CPUs


def has_fused(device: torch.device) -> bool:
    """Return whether torch's fused optimizers run there."""
    from torch.utils._foreach_utils import _get_fused_kernels_supported_devices

    return device.type in _get_fused_kernels_supported_devices()


def step_unless(held: Tensor, optimizer: Optimizer) -> None:
    """Take a step unless `held` is true; where the optimizer is fused, without asking the device.

    Args:
        held: () bool, on the parameters' device.
        optimizer: From `build_optimizer`, as it is or as an engine has wrapped it.
    """
    if all(group["fused"] for group in optimizer.param_groups):
        cast(Any, optimizer).found_inf = held.float()
        optimizer.step()
    elif not held:
        optimizer.step()


# torch 2.13: DistributedDataParallel(forward_sync_buffers=…) in place of broadcast_buffers

NO_BUFFERS: dict[str, Any] = (
    {"forward_sync_buffers": False}
    if "forward_sync_buffers" in inspect.signature(DistributedDataParallel.__init__).parameters
    # At the beginning neither sends any: the trainer gives all ranks the same weights and buffers.
    else {"broadcast_buffers": False}
)
"""Arguments with which no forward pass sends buffers to other ranks."""
