"""A small job with all that it needs: data, outputs, and a local AWS for its model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from training.layout import LogChannel

PROJECT = Path(__file__).resolve().parents[2]

EFS_ID = "fs-0ef5"
BUCKET = "job-bucket"

TINY = {
    "resnet_arch": "mobilenet",
    "batch_norm": "GN",
    "backbone_weights": None,
    "fpn_channels": 16,
    "box_head_channels": 32,
    "mask_head_channels": 16,
    "mask_head_layers": 1,
    "anchor_sizes": [8, 16, 32, 64, 128],
    "rpn_pre_nms_train": 64,
    "rpn_post_nms_train": 32,
    "rpn_pre_nms_test": 32,
    "rpn_post_nms_test": 16,
    "roi_batch_per_image": 16,
    "image_short_sides": [64],
    "image_max_side": 64,
    "num_workers": 0,
    "empty_pictures": "train",
    "batch_size_per_gpu": 2,
    "precision": "fp32",
    "optimizer": "adamw",
    "lr_epoch_schedule": [[2, None]],
    "base_learning_rate": 0.001,
    "warmup_steps": 2,
    "log_period": 1,
    "checkpoint_period": 2,
}
"""Hyperparameters with which two processes start, train and evaluate in a few seconds."""


@pytest.fixture(scope="session")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Synthetic shapes: 16 pictures to train on, 4 to evaluate."""
    folder = tmp_path_factory.mktemp("data") / "shapes"
    subprocess.run(
        [
            *(sys.executable, "-m", "training.data", "shapes", "--out", str(folder)),
            *("--train", "16", "--val", "4", "--size", "64", "--seed", "3"),
        ],
        check=True,
        cwd=PROJECT,
        capture_output=True,
    )
    return folder


@dataclass(frozen=True)
class Place:
    """Where one test launches its jobs."""

    root: Path
    environ: Mapping[str, str]

    @property
    def mount(self) -> Path:
        return self.root / "mounts" / EFS_ID

    @property
    def data(self) -> Path:
        return self.mount / "mask-rcnn/sagemaker/input/train"

    @property
    def outputs_file(self) -> Path:
        return self.root / "outputs.json"

    def log(self, name: str) -> LogChannel:
        return LogChannel(self.mount / f"mask-rcnn/sagemaker/output/log-{name}")

    def write_job(self, **hyperparameters: Any) -> Path:
        path = self.root / "job.yaml"
        spec = {
            "data_source": "efs",
            "instances": {"processes_per_instance": 2},
            "hyperparameters": TINY | hyperparameters,
        }
        path.write_text(yaml.safe_dump(spec))
        return path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "training.launch", *arguments),
                *("--outputs-file", str(self.outputs_file)),
            ],
            env={**os.environ, **self.environ, "PYTHONPATH": str(PROJECT)},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def launch(self, *arguments: str, timeout_s: float = 250) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=timeout_s)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


def storage_outputs() -> dict[str, str]:
    return {
        "BucketName": BUCKET,
        "EncryptionKeyArn": "arn:aws:kms:us-east-1:123456789012:key/1",
        "EfsId": EFS_ID,
        "EfsSecurityGroupId": "sg-1",
        "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
        "FsxId": "fs-0f5a",
        "FsxMountName": "abcdefgh",
        "FsxDnsName": "fs-0f5a.fsx.us-east-1.amazonaws.com",
        "FsxSubnetId": "subnet-1",
        "FsxAvailabilityZone": "us-east-1a",
        "FsxSecurityGroupId": "sg-2",
        "FsxDataPath": "/data",
    }


@pytest.fixture
def place(tmp_path: Path, shapes: Path) -> Place:
    """A folder with a mounted EFS that holds the shapes, and a file of stack outputs."""
    # What a shell would read as more than one word, or as a command.
    root = tmp_path / "a job's $(touch hacked) folder"
    here = Place(root, {"MASK_RCNN_MOUNTS": str(root / "mounts")})
    shutil.copytree(shapes, here.data)
    here.outputs_file.write_text(json.dumps({"StorageStack": storage_outputs()}))
    return here
