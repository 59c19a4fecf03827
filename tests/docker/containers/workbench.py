"""A folder from which jobs are launched into containers: data, outputs, job file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT, LocalAws
from tests.training.conftest import TINY
from training.data.shapes import ShapesSet, make_shapes
from training.layout import LOG_ROOT, TRAIN_PATH, LogChannel

EFS_ID = "fs-0ef50ef5"
BUCKET = "container-results"

HYPERPARAMETERS = {**TINY, "batch_size_per_gpu": 1, "checkpoint_period": 100}

ARN = "arn:aws:kms:us-east-1:123456789012:key/1"
OUTPUTS = {
    "NetworkStack": {
        "Project": "mask-rcnn",
        "VpcId": "vpc-1",
        "PrivateSubnetIds": "subnet-1",
        "AvailabilityZones": "us-east-1a",
        "TrainingSecurityGroupId": "sg-1",
    },
    "StorageStack": {
        "BucketName": BUCKET,
        "EncryptionKeyArn": ARN,
        "EfsId": EFS_ID,
        "EfsSecurityGroupId": "sg-2",
        "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
    },
    "RegistryStack": {
        f"{name}RepositoryUri": f"123456789012.dkr.ecr.us-east-1.amazonaws.com/{name.lower()}"
        for name in ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
    },
}


@dataclass(frozen=True)
class Bench:
    """Where one test launches its jobs."""

    root: Path
    environ: Mapping[str, str]

    @property
    def mount(self) -> Path:
        return self.root / "mounts" / EFS_ID

    def log(self, name: str) -> LogChannel:
        return LogChannel(self.mount / LOG_ROOT / f"log-{name}")

    def start(self, name: str, image: str | None, *arguments: str) -> subprocess.Popen[str]:
        """Launch a job on two hosts of one process each.

        Args:
            name: The job's.
            image: None takes what the project's sources make.
            arguments: More of the command line.
        """
        chosen = () if image is None else ("--set", f"image={image}")
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "training.launch", "job.yaml", "--name", name),
                *("--platform", "sagemaker", "--data-source", "efs", "--yes"),
                *("--instance-type", "local", "--instance-count", "2", *chosen),
                *("--set", "instances.processes_per_instance=1"),
                *("--outputs-file", "outputs.json", *arguments),
            ],
            cwd=self.root,
            env={**os.environ, **self.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


def make_bench(
    root: Path, aws: LocalAws, environ: Mapping[str, str], *, train: int, **changes: Any
) -> Bench:
    """Make the folder.

    Args:
        root: Of everything.
        aws: Has the bucket for the results.
        environ: Variables for the launcher besides those of the local AWS.
        train: Pictures to train on.
        changes: Hyperparameters.
    """
    own = {**aws.env, **environ, "MASK_RCNN_MOUNTS": str(root / "mounts")}
    bench = Bench(root, own)
    make_shapes(bench.mount / TRAIN_PATH, ShapesSet(train=train, val=2, seed=3, size=64))
    (root / "outputs.json").write_text(json.dumps(OUTPUTS))
    spec = {"hyperparameters": HYPERPARAMETERS | changes}
    (root / "job.yaml").write_text(yaml.safe_dump(spec))
    aws.client("s3").create_bucket(Bucket=BUCKET)  # again is no error in us-east-1
    return bench


def wait_for(condition: Callable[[], object], launcher: subprocess.Popen[str]) -> None:
    """Wait until something is so, while the launcher runs."""
    until = time.monotonic() + 240
    while not condition():
        assert launcher.poll() is None, launcher.communicate()[1]
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.1)


def steps(log: LogChannel) -> list[int]:
    """Return the steps that the job's metrics tell of."""
    try:
        lines = log.metrics.read_text().splitlines()
    except FileNotFoundError:
        return []
    read = [json.loads(line) for line in lines]
    return [entry["step"] for entry in read if entry["kind"] == "train"]
