"""The optimizer of the hyperparameters."""

from __future__ import annotations

from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from training.maskrcnn.hyperparameters import Hyperparameters

ADAM_BETA2 = 0.999


def build_optimizer(model: nn.Module, hyperparameters: Hyperparameters) -> Optimizer:
    """Build the optimizer of all trained parameters; weights alone decay, norms and biases not."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {
            "params": [parameter for parameter in trained if parameter.ndim > 1],
            "weight_decay": hyperparameters.weight_decay,
        },
        {
            "params": [parameter for parameter in trained if parameter.ndim <= 1],
            "weight_decay": 0.0,
        },
    ]
    rate, momentum = hyperparameters.base_learning_rate, hyperparameters.momentum
    if hyperparameters.optimizer == "adamw":
        return AdamW(groups, lr=rate, betas=(momentum, ADAM_BETA2), fused=True)
    return SGD(groups, lr=rate, momentum=momentum, fused=True)
