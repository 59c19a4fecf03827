"""What is sent to SageMaker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SageMakerRequest:
    """One CreateTrainingJob request."""

    body: Mapping[str, Any]
    """As the API has it:
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html"""

    @property
    def job_name(self) -> str:
        return str(self.body["TrainingJobName"])

    @property
    def instance_type(self) -> str:
        return str(self.body["ResourceConfig"]["InstanceType"])

    def to_json(self) -> dict[str, Any]:
        """Return the body, exactly."""
        return dict(self.body)
