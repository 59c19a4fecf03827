"""Where jobs are: their index and run folders on EFS, and what is of this machine alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from node import paths
from node.config import NodeConfig

RUN = Path(os.environ.get("MASK_RCNN_RUN") or paths.RUN)
"""Locks and sockets; in memory."""
LOCAL = Path(os.environ.get("MASK_RCNN_LOCAL") or "/var/lib/mask-rcnn")
"""What a running job has on the node's own disk."""
HOME = Path(os.environ.get("MASK_RCNN_HOME") or paths.ASSET)
"""What an image has below /opt/mask-rcnn, laid out in the same way (runs_in environment)."""


def index(config: NodeConfig) -> Path:
    """Return the folder with one file a job, `{"run", "created"}`."""
    return paths.nodes(config.efs.mount, config.cluster).parent / "jobs"


def sizing(config: NodeConfig) -> Path:
    """Return the file that has the worker group's size of before the jobs."""
    return paths.nodes(config.efs.mount, config.cluster).parent / "workers-before.json"


@dataclass(frozen=True)
class RunFolder:
    """A job's folder on EFS: its log channel, and in `conductor/` what the conductor needs."""

    root: Path

    @property
    def conductor(self) -> Path:
        return self.root / "conductor"

    @property
    def request(self) -> Path:
        return self.conductor / "request.json"

    @property
    def state(self) -> Path:
        return self.conductor / "state.json"

    @property
    def lease(self) -> Path:
        return self.conductor / "lease.json"

    @property
    def stop(self) -> Path:
        """There once the job was asked to stop."""
        return self.conductor / "stop.json"

    @property
    def output(self) -> Path:
        """What the job's head printed, and what the conductor said in between."""
        return self.conductor / "output.log"

    @property
    def shipped(self) -> Path:
        """How much of it is in CloudWatch Logs."""
        return self.conductor / "shipped.json"

    @property
    def told(self) -> Path:
        """Which of its changes were told."""
        return self.conductor / "told.json"

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is one to go on from: our trainer's, or TensorFlow's of any start."""
        folder = self.root / "checkpoints"
        return any(folder.glob("step-*.pt")) or any(folder.glob("attempt-*/*.index"))

    @property
    def metrics(self) -> Path:
        return self.root / "metrics.jsonl"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def model(self) -> Path:
        return self.root / "model.pt"
