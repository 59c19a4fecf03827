"""The real trainer on two hosts: Horovod over MPI, and torchrun."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docker.entrypoint.cluster import Cluster, wait_until
from tests.docker.entrypoint.conftest import MakeCluster
from training.data.shapes import ShapesSet, make_shapes
from training.hyperparameter_text import to_texts
from training.maskrcnn.hyperparameters import read_hyperparameters

ROOT = Path(__file__).parents[3]
ADAPTER = ROOT / "docker" / "horovod" / "adapter.py"

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shapes") / "train"
    make_shapes(root, ShapesSet(train=8, val=2, size=64))
    return root


def hyperparameters(**changes: Any) -> Mapping[str, str]:
    """Return those of jobs/tiny.yaml, as SageMaker passes them."""
    spec = yaml.safe_load((ROOT / "jobs" / "tiny.yaml").read_text())
    values = {**spec["hyperparameters"], "log_period": 1, **changes}
    return to_texts(read_hyperparameters(values, source="test"))


def steps(cluster: Cluster) -> list[int]:
    """Return the steps of training that metrics.jsonl has, in its order."""
    path = cluster.log / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [record["step"] for record in records if record["kind"] == "train"]


@pytest.mark.slow
def test_two_hosts_train_over_mpi_stop_at_sigterm_and_go_on(
    make_cluster: MakeCluster, data: Path
) -> None:
    cluster = make_cluster(2, ADAPTER)
    endless = hyperparameters(lr_epoch_schedule=[[1000, None]])
    first = cluster.start_all(endless, data=data, OMP_NUM_THREADS="1")
    wait_until(lambda: len(steps(cluster)) >= 3, 250)
    first[1].terminate()
    assert [host.wait(200) for host in first] == [75, 75]
    saved = json.loads((cluster.log / "outcome.json").read_text())
    assert saved["status"] == "checkpointed"
    assert f"with a checkpoint at step {saved['step']};" in first[0].stderr

    epochs = saved["step"] // 2 + 2
    rest = hyperparameters(lr_epoch_schedule=[[epochs, None]])
    second = cluster.start_all(rest, data=data, OMP_NUM_THREADS="1")
    assert [host.wait(250) for host in second] == [0, 0]
    # Two pictures on each of two ranks, eight in an epoch.
    assert steps(cluster) == list(range(1, epochs * 2 + 1))
    assert f"goes on after step {saved['step']}" in second[0].stdout
    assert "mAP(segm)/IoU=0.5:0.95: " in second[0].stdout
    assert "[rank 1] rank 1 of 2: process" in second[0].stdout
    model = second[0].ml / "model"
    assert [path.name for path in model.iterdir()] == ["model.pt"]
    assert (model / "model.pt").read_bytes() == (cluster.log / "model.pt").read_bytes()
    kept = {path.name for path in (second[0].ml / "output" / "data").iterdir()}
    assert {"report.html", "metrics.jsonl", "outcome.json", "rank-1.log", "events"} <= kept
    assert not {"model.pt", "checkpoints"} & kept
    job = json.loads((cluster.log / "job.json").read_text())
    assert job["versions"]["horovod"] == "0.28.1"


@pytest.mark.slow
def test_two_hosts_train_with_torchrun(make_cluster: MakeCluster, data: Path) -> None:
    cluster = make_cluster(2, ADAPTER)
    few = hyperparameters(lr_epoch_schedule=[[1, None]])
    # As with data on S3: no folder but the head's own is seen by all.
    hosts = [
        cluster.start(
            host,
            few,
            data=data,
            OMP_NUM_THREADS="1",
            MASK_RCNN_DISTRIBUTION="torchrun",
            MASK_RCNN_LOG=str(cluster.log if host == "algo-1" else cluster.folder / "own"),
        )
        for host in cluster.hosts
    ]
    assert [host.wait(250) for host in hosts] == [0, 0]
    assert steps(cluster) == [1, 2]
    assert "2 ranks (torch) on cpu" in hosts[0].stdout
    assert (hosts[0].ml / "model" / "model.pt").exists()
    assert "plm_rsh" not in hosts[0].stderr
