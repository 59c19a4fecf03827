"""Where SageMaker's container contract has its files.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-output.html
"""

import os
from typing import Mapping

ROOT_VARIABLE = "MASK_RCNN_ML_ROOT"
"""Another root than /opt/ml: several hosts on one machine, as tests have them."""


class MlPaths:
    """The files and folders below /opt/ml."""

    def __init__(self, root: str = "/opt/ml") -> None:
        self.root = root

    @property
    def resources(self) -> str:
        return os.path.join(self.root, "input", "config", "resourceconfig.json")

    @property
    def hyperparameters(self) -> str:
        return os.path.join(self.root, "input", "config", "hyperparameters.json")

    @property
    def channels(self) -> str:
        return os.path.join(self.root, "input", "config", "inputdataconfig.json")

    @property
    def elastic(self) -> str:
        """Not SageMaker's: what `elastic` and `host` are told."""
        return os.path.join(self.root, "input", "config", "elastic.json")

    def channel(self, name: str) -> str:
        return os.path.join(self.root, "input", "data", name)

    @property
    def model(self) -> str:
        """SageMaker uploads it as model.tar.gz."""
        return os.path.join(self.root, "model")

    @property
    def output_data(self) -> str:
        """SageMaker uploads it as output.tar.gz."""
        return os.path.join(self.root, "output", "data")

    @property
    def failure(self) -> str:
        """Its first 1,024 characters become the job's FailureReason."""
        return os.path.join(self.root, "output", "failure")


def paths_of(environ: Mapping[str, str]) -> MlPaths:
    return MlPaths(environ.get(ROOT_VARIABLE) or "/opt/ml")
