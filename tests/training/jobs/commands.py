"""`python -m training.jobs` as a user types it, and jobs of a local AWS to look after."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.conftest import LocalAws
from training.platforms.sagemaker.fingerprint import with_fingerprint

PROJECT = Path(__file__).resolve().parents[3]


class Commands:
    """`python -m training.jobs`, and jobs to look after."""

    def __init__(self, aws: LocalAws) -> None:
        self.env = {**aws.process_env(), "COLUMNS": "200", "PYTHONPATH": str(PROJECT)}
        self._sagemaker = aws.client("sagemaker")
        self._prefix = f"t{uuid.uuid4().hex[:8]}"

    def make(self, name: str, *, hosts: int = 1, ours: bool = True, **tags: str) -> str:
        """Make a training job; `ending` and `seconds` are local AWS's tags."""
        body: dict[str, Any] = {
            "TrainingJobName": f"{self._prefix}-{name}",
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "AlgorithmSpecification": {"TrainingImage": "x:1", "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "ResourceConfig": {"InstanceType": "ml.p3.16xlarge", "InstanceCount": hosts},
            "StoppingCondition": {"MaxRuntimeInSeconds": 100},
            "CheckpointConfig": {"S3Uri": f"s3://no-such-bucket/out/log-{name}"},
            "Tags": [{"Key": f"localaws:{key}", "Value": value} for key, value in tags.items()],
        }
        self._sagemaker.create_training_job(**(with_fingerprint(body) if ours else body))
        return str(body["TrainingJobName"])

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "training.jobs", *arguments],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=120)
        return process.returncode, stdout, stderr
