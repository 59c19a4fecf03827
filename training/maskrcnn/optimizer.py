"""The optimizer of the hyperparameters."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.lars import DECAY, TRUST, Lars
from training.maskrcnn.older_torch import has_fused

ADAM_BETA2 = 0.999


def build_optimizer(model: nn.Module, hyperparameters: Hyperparameters) -> Optimizer:
    """Build the optimizer of all trained parameters; weights alone decay, norms and biases not.

    All are fused: a few kernels for all parameters, which is quicker and takes `found_inf`, by
    which the step holds an update back without asking the device (`training.maskrcnn.step`). On
    CPUs that takes torch 2.4.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    weights: dict[str, Any] = {
        "params": [parameter for parameter in trained if parameter.ndim > 1],
        "weight_decay": hyperparameters.weight_decay,
    }
    others = {
        "params": [parameter for parameter in trained if parameter.ndim <= 1],
        "weight_decay": 0.0,
    }
    rate, momentum = hyperparameters.base_learning_rate, hyperparameters.momentum
    fused = has_fused(trained[0].device)
    match hyperparameters.optimizer:
        case "adamw":
            return AdamW([weights, others], lr=rate, betas=(momentum, ADAM_BETA2), fused=fused)
        case "lars":
            weights |= {
                "weight_decay": 0.0,
                DECAY: hyperparameters.weight_decay,
                TRUST: hyperparameters.lars_trust_coefficient,
            }
            return Lars([weights, others], lr=rate, momentum=momentum, fused=fused)
        case "sgd":
            return SGD([weights, others], lr=rate, momentum=momentum, fused=fused)


def begin_momentum(optimizer: Optimizer) -> None:
    """Begin sgd's momentum with zeros, which is what it is before the first step.

    torch makes it in the first step, without a value where `found_inf` holds that step back.
    """
    for group in optimizer.param_groups:
        if group.get("momentum"):
            for parameter in group["params"]:
                optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
