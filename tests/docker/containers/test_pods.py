"""Containers as Kubernetes starts them: a user, no capability, the runtime's seccomp profile, and a
root that cannot be written. Between network namespaces: tests/docker/entrypoint/pods/.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.docker.containers.lite_image import IMAGE, Podman
from tests.docker.entrypoint.cluster import run
from tests.training.conftest import TINY
from training.data.shapes import ShapesSet, make_shapes
from training.hyperparameter_text import to_texts
from training.maskrcnn.hyperparameters import read_hyperparameters

pytestmark = [pytest.mark.container, pytest.mark.soak]

UID = 1000
NETWORK = "mask-rcnn-pods"
WORKER, LAUNCHER = "trial-worker-0", "trial-launcher"
ADDRESSES = {WORKER: "10.89.77.2", LAUNCHER: "10.89.77.3"}

VARIABLES = {
    "HOME": "/tmp",
    "MASK_RCNN_PLATFORM": "eks",
    "MASK_RCNN_ALGORITHM": "horovod",
    "MASK_RCNN_DISTRIBUTION": "mpi",
    "MASK_RCNN_PROCESSES_PER_HOST": "2",
    "MASK_RCNN_DATA": "/efs/data",
    "MASK_RCNN_LOG": "/efs/log",
    "OMP_NUM_THREADS": "1",
    "TRAINING_JOB_NAME": "trial",
}


def lay_out(root: Path) -> None:
    """Make what the operator and the chart mount."""
    for folder in ("mpi", "ssh", "config", "efs/log"):
        (root / folder).mkdir(parents=True)
    (root / "mpi/hostfile").write_text(f"{WORKER}.trial.kubeflow.svc slots=2\n")
    words = ("-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "")
    run("ssh-keygen", *words, "-f", str(root / "ssh/id_rsa"))
    (root / "ssh/id_rsa").chmod(0o644)
    changes = {"batch_size_per_gpu": 1, "images_per_epoch": None, "lr_epoch_schedule": [[1, None]]}
    values = to_texts(read_hyperparameters({**TINY, **changes}, source="test"))
    (root / "config/hyperparameters.json").write_text(json.dumps(values))
    make_shapes(root / "efs/data", ShapesSet(train=6, val=2, size=64))
    os.chown(root / "efs/log", UID, UID)


def words_of(podman: Podman, root: Path, name: str, part: str) -> list[str]:
    """Return the arguments of `podman run`, but for how it is waited for."""
    mounts = {
        "mpi": "/etc/mpi:ro",
        "ssh": "/etc/mask-rcnn/ssh:ro",
        "config": "/opt/ml/input/config:ro",
        "efs": "/efs",
    }
    return [
        *("--name", name, "--hostname", name, "--network", NETWORK, "--ip", ADDRESSES[name]),
        *("--add-host", f"{WORKER}.trial.kubeflow.svc:{ADDRESSES[WORKER]}"),
        *("--user", f"{UID}:{UID}", "--cap-drop", "all", "--security-opt", "no-new-privileges"),
        *("--read-only", "--tmpfs", "/tmp", "--shm-size", "256m"),
        *podman.engine.limits(),
        *(word for key, value in VARIABLES.items() for word in ("--env", f"{key}={value}")),
        *(word for key in mounts for word in ("--volume", f"{root / key}:{mounts[key]}")),
        *(IMAGE, part),
    ]


def test_the_real_trainer_runs_without_root_under_the_runtimes_own_restrictions(
    podman: Podman, tmp_path: Path
) -> None:
    root = tmp_path / "mounted"
    root.mkdir()
    lay_out(root)
    made = podman.call("network", "create", "--subnet", "10.89.77.0/24", NETWORK)
    assert made.returncode == 0, made.stderr
    try:
        started = podman.call("run", "--detach", *words_of(podman, root, WORKER, "worker"))
        assert started.returncode == 0, started.stderr
        ran = podman.call("run", *words_of(podman, root, LAUNCHER, "launcher"))
        worker = podman.call("logs", WORKER)
        assert ran.returncode == 0, (ran.stderr, worker.stderr)
        assert podman.call("wait", WORKER).stdout.strip() == "0"
    finally:
        podman.call("rm", "--force", "--all")
        podman.call("network", "rm", NETWORK)
    assert "[rank 1] rank 1 of 2: process" in ran.stdout
    assert "mAP(segm)/IoU=0.5:0.95: " in ran.stdout
    assert worker.stderr.endswith("leaves: the job is completed\n")
    kept = {path.name: path.stat().st_uid for path in (root / "efs/log").iterdir()}
    assert {"model.pt", "report.html", "job.json", "checkpoints"} <= set(kept)
    assert set(kept.values()) == {UID}
