"""SageMaker's data parallel library (SMDDP) below DistributedDataParallel.

It registers a backend of torch.distributed when it is imported, adds gradients up its own way, and
leaves every other collective to NCCL. It is in AWS's own images alone.
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-modify-sdp-pt.html
"""

from __future__ import annotations

# Registers the backend.
import smdistributed.dataparallel.torch.torch_smddp  # type: ignore[import-not-found]  # noqa: F401

from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.hyperparameters import Hyperparameters


def start(hyperparameters: Hyperparameters | None = None) -> Engine:  # noqa: ARG001
    return TorchEngine("smddp", backend="smddp")
