"""Where the notebooks run: local AWS with the stacks, data in the bucket, images, a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import LocalAws
from tests.notebooks.reading import PROJECT
from training.algorithms import NAMES, load
from training.data.progress import SILENT
from training.data.shapes import ShapesSet, make_shapes
from training.images.tag import image_tag
from training.outputs import NetworkOutputs, Outputs, RegistryOutputs, StorageOutputs

TRAIN = "mask-rcnn/sagemaker/input/train"
LOGS = "mask-rcnn/sagemaker/output"


@dataclass(frozen=True)
class Place:
    """Local AWS as it is after a deploy."""

    aws: LocalAws
    outputs: Outputs

    @property
    def network(self) -> NetworkOutputs:
        return self.outputs.read(NetworkOutputs)

    @property
    def storage(self) -> StorageOutputs:
        return self.outputs.read(StorageOutputs)

    def folder(self, source: str) -> Path:
        """Return the folder of a file system below which channels are."""
        if source == "efs":
            return self.aws.mounts / self.storage.efs_id
        lustre = self.storage.lustre(asked_by="the test")
        return self.aws.mounts / lustre.id / lustre.data_path.strip("/")

    def describe(self, job: str) -> dict[str, Any]:
        """Return a training job as SageMaker has it."""
        sagemaker = self.aws.client("sagemaker")
        found: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=job)
        return found

    def job_names(self) -> set[str]:
        """Return the names of all training jobs."""
        found = self.aws.client("sagemaker").list_training_jobs(MaxResults=100)
        return {each["TrainingJobName"] for each in found["TrainingJobSummaries"]}

    def image(self, algorithm: str) -> str:
        repository = getattr(self.outputs.read(RegistryOutputs), load(algorithm).REPOSITORY)
        return f"{repository}:{image_tag(algorithm)}"

    def push_images(self) -> None:
        """Put something into ECR under the name of each image; nobody runs it."""
        ecr = self.aws.client("ecr")
        for algorithm in NAMES:
            repository, _, tag = self.image(algorithm).partition("/")[2].partition(":")
            ecr.put_image(
                repositoryName=repository,
                imageTag=tag,
                imageManifest=json.dumps({"schemaVersion": 2, "config": {"digest": algorithm}}),
                imageManifestMediaType="application/vnd.oci.image.manifest.v1+json",
            )

    def process_env(self, home: Path) -> dict[str, str]:
        """Return the environment of a Jupyter server, which knows no region."""
        env = {
            name: value
            for name, value in self.aws.process_env().items()
            if name not in ("AWS_REGION", "AWS_DEFAULT_REGION")
        }
        return env | {
            "HOME": str(home),
            "IPYTHONDIR": str(home / ".ipython"),
            "PYTHONPATH": str(PROJECT),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }


def run(*arguments: str | Path, env: Mapping[str, str] | None = None) -> None:
    """Run a module that must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=PROJECT,
        env=env or os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def make_set(folder: Path) -> None:
    """Make a set with what the jobs of the runs begin with; the weights are none."""
    make_shapes(folder, ShapesSet(train=8, val=4, seed=1, size=64), SILENT)
    (folder / "pretrained-models").mkdir()
    (folder / "pretrained-models" / "ImageNet-R50-AlignPadding.npz").write_bytes(b"weights")


def install_kernel(prefix: Path, region: str) -> None:
    """Tell Jupyter of a kernel as stacks/lifecycle/setup.sh does it."""
    name = ("--name", "distributed-mask-rcnn", "--display-name", "Distributed Mask R-CNN")
    run("ipykernel", "install", "--prefix", prefix, *name, "--env", "AWS_REGION", region)
