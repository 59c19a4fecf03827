"""Where and in what arithmetic a model computes, as the command lines give it."""

from __future__ import annotations

import torch

from training.errors import UsageError
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.step import AUTOCAST_TYPES


def choose_device(name: str | None) -> torch.device:
    """Return the named device, or without a name a GPU where there is one.

    Raises:
        UsageError: There is no such device here.
    """
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in {"cpu", "cuda"}:
        raise UsageError(f"--device {name}: must be cpu, cuda or cuda:N")
    found = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= found:
        raise UsageError(f"--device {name}: not there; this machine has {found} GPUs for torch")
    return device


def choose_precision(
    name: str | None, hyperparameters: Hyperparameters, device: torch.device
) -> torch.dtype:
    """Return the named arithmetic, or without a name that of the training.

    A CPU cannot compute the network in fp16: there fp32 stands for it.

    Raises:
        UsageError: There is no such arithmetic, or not on this device.
    """
    if name is not None and name not in AUTOCAST_TYPES:
        raise UsageError(f"--precision {name}: must be one of {', '.join(AUTOCAST_TYPES)}")
    if name == "fp16" and device.type == "cpu":
        raise UsageError("--precision fp16: needs a GPU; on a CPU choose bf16 or fp32")
    if name is None:
        name = hyperparameters.precision
        if name == "fp16" and device.type == "cpu":
            name = "fp32"
    return AUTOCAST_TYPES[name]
