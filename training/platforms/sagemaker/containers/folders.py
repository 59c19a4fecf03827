"""The folders below /opt/ml that each host of a job has for itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.platforms.sagemaker.containers.contract import config_files
from training.platforms.sagemaker.containers.mounts import Mount

CHECKPOINTS = "/opt/ml/checkpoints"
"""CheckpointConfig's LocalPath where it has none."""


@dataclass(frozen=True)
class HostFolders:
    """What one container sees as /opt/ml, but for its channels."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def model(self) -> Path:
        return self.root / "model"

    @property
    def output(self) -> Path:
        return self.root / "output"

    @property
    def data(self) -> Path:
        """What goes into output.tar.gz."""
        return self.output / "data"

    @property
    def failure(self) -> Path:
        return self.output / "failure"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def tensorboard(self) -> Path:
        return self.output / "tensorboard"

    def make(self, body: Mapping[str, Any], hosts: tuple[str, ...], current: str) -> None:
        """Make all of them, and write what the container is told."""
        for folder in (self.config, self.model, self.data, self.checkpoints, self.tensorboard):
            folder.mkdir(parents=True)
        for name, document in config_files(body, hosts, current).items():
            (self.config / name).write_text(json.dumps(document), encoding="utf-8")

    def mounts(self, body: Mapping[str, Any]) -> tuple[Mount, ...]:
        """Return how the container sees them; checkpoints only where the job has a place for it."""
        mounts = [
            Mount(self.config, "/opt/ml/input/config", writable=False),
            Mount(self.model, "/opt/ml/model", writable=True),
            Mount(self.output, "/opt/ml/output", writable=True),
        ]
        if config := body.get("CheckpointConfig"):
            target = config.get("LocalPath", CHECKPOINTS)
            mounts.append(Mount(self.checkpoints, target, writable=True))
        return tuple(mounts)

    def failure_reason(self) -> str | None:
        """Return what the container says of its failure; SageMaker takes 1,024 characters."""
        try:
            text = self.failure.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return text[:1024].strip() or None
