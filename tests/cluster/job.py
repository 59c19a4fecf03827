"""Jobs on the cluster, by the commands that a user types."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.cluster import Cluster
from tests.conftest import ROOT
from tests.training.conftest import TINY
from tests.waiting import wait_for

SPEC: dict[str, Any] = {
    "platform": "ec2",
    "algorithm": "horovod",
    "data_source": "efs",
    "instances": {"type": "m6i.2xlarge", "count": 2, "processes_per_instance": 1},
    "limits": {"max_run_s": 3600},
    # Three hosts share the machine's processors: threads that wait for each other cost most of it.
    "environment": {"OMP_NUM_THREADS": "1"},
    "ec2": {"stall_s": 240, "workers_wait_s": 240},
}

LIVE = ("queued", "waiting", "running", "stopping")


@dataclass(frozen=True)
class Job:
    """A job of the cluster, by its name."""

    cluster: Cluster
    name: str

    @property
    def folder(self) -> Path:
        """Its folder on EFS."""
        return self.cluster.efs / f"mask-rcnn/sagemaker/output/log-{self.name}"

    def status(self) -> dict[str, Any]:
        """Return what `jobs status` says."""
        return dict(json.loads(jobs(self.cluster, "status", self.name, "--format", "json")))

    def metrics(self, kind: str = "train") -> list[dict[str, Any]]:
        """Return what the trainer has measured, oldest first."""
        file = self.folder / "metrics.jsonl"
        if not file.exists():
            return []
        # The last line may be half written.
        lines = file.read_text("utf-8").splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [each for each in found if each["kind"] == kind]

    @property
    def step(self) -> int:
        """The last step that it has written."""
        return max((each["step"] for each in self.metrics()), default=0)

    def said(self) -> str:
        """Return what its processes and its conductor have said."""
        file = self.folder / "conductor/output.log"
        return file.read_text("utf-8", "replace") if file.exists() else ""

    def wait_for_step(self, step: int, patience_s: float = 240.0) -> None:
        wait_for(lambda: self.step >= step, f"step {step}; {self.said()[-2000:]}", patience_s)

    def wait_for_ranks(self, ranks: int, begin: int, patience_s: float = 240.0) -> None:
        """Wait until so many ranks have met, in what was said from `begin` on."""
        text = f"{ranks} ranks (horovod)"
        wait_for(lambda: text in self.said()[begin:], text, patience_s)

    def wait_for_end(self, patience_s: float = 240.0) -> dict[str, Any]:
        """Wait until it runs no more; return its status."""

        def ended() -> dict[str, Any] | None:
            found = self.status()
            return None if found["status"] in LIVE else found

        return wait_for(ended, f"the end of {self.name}", patience_s)


def launch(cluster: Cluster, name: str, folder: Path, *, epochs: int, **ec2: Any) -> Job:
    """Start a job on two workers."""
    spec = SPEC | {
        "ec2": SPEC["ec2"] | ec2,
        "hyperparameters": TINY | {"lr_epoch_schedule": [[epochs, None]]},
    }
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    outputs = ["--outputs-file", str(cluster.outputs_file)]
    done = run(cluster, "training.launch", str(file), "--name", name, "--yes", *outputs)
    assert done.returncode == 0, done.stderr
    return Job(cluster, name)


def jobs(cluster: Cluster, *arguments: str) -> str:
    """Return what `python -m training.jobs` prints; it must succeed."""
    command, *rest = arguments
    where = ["--platform", "ec2", "--outputs-file", str(cluster.outputs_file)]
    done = run(cluster, "training.jobs", command, *rest, *where)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(cluster: Cluster, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command: Sequence[str] = [sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=cluster.aws.process_env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
