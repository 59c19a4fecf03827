"""The real trainer in pods: Horovod over MPI, and elastic, while pods come and go."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.docker.entrypoint.cluster import wait_until
from tests.docker.entrypoint.pods.conftest import MakePods
from tests.docker.entrypoint.pods.pods import LAUNCHER, TIMING, Pods
from tests.training.maskrcnn.tiny_job import TINY
from training.data.shapes import ShapesSet, make_shapes
from training.hyperparameter_text import to_texts
from training.maskrcnn.hyperparameters import read_hyperparameters

pytestmark = [
    pytest.mark.soak,
    pytest.mark.root,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces"),
]

IMAGES = 1000
LIGHT: dict[str, Any] = {
    **TINY,
    "batch_size_per_gpu": 1,
    "images_per_epoch": 20,
    "log_period": 1,
}
VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "MASK_RCNN_TIMING": json.dumps({**TIMING, "note_s": 30, "silence_s": 20, "leave_s": 60}),
}
SLOW_S = 300


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shapes") / "train"
    make_shapes(root, ShapesSet(train=20, val=4, size=64))
    return root


def hyperparameters(**changes: Any) -> Mapping[str, str]:
    return to_texts(read_hyperparameters({**LIGHT, **changes}, source="test"))


def records(pods: Pods) -> list[dict[str, Any]]:
    """Return what metrics.jsonl has so far, the line that is being written left out."""
    path = pods.log / "metrics.jsonl"
    whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


def steps(pods: Pods) -> list[tuple[int, float]]:
    """Return step and epoch of each step of training so far."""
    return [(line["step"], line["epoch"]) for line in records(pods) if line["kind"] == "train"]


def size(pods: Pods) -> int:
    """Return the number of ranks of the last step, each of which takes one picture."""
    taken = steps(pods)[-2:]
    if len(taken) < 2:
        return 0
    return round((taken[1][1] - taken[0][1]) * IMAGES)


def outcome(pods: Pods) -> dict[str, Any]:
    return dict(json.loads((pods.log / "outcome.json").read_text()))


def test_two_workers_train_over_mpi_lose_one_stop_at_sigterm_and_go_on_to_the_end(
    make_pods: MakePods, data: Path
) -> None:
    pods = make_pods(2)
    endless = hyperparameters(lr_epoch_schedule=[[1000, None]], checkpoint_period=5)

    def start(name: str, values: Mapping[str, str]) -> Any:
        return pods.start(name, None, values, data=data, **VARIABLES)

    workers = [start(name, endless) for name in pods.worker_names]
    launcher = start(LAUNCHER, endless)
    wait_until(lambda: len(steps(pods)) >= 6, SLOW_S)
    pods.lose(workers[1])
    wait_until(lambda: "went away: waits for another" in launcher.stderr, 60)
    at_loss = steps(pods)[-1][0]
    workers[1] = start("trial-worker-1", endless)
    wait_until(lambda: steps(pods)[-1][0] > at_loss + 2, SLOW_S)
    begin = time.monotonic()
    launcher.terminate()
    assert launcher.wait(100) == 75
    assert time.monotonic() - begin < 60
    saved = outcome(pods)
    assert saved["status"] == "checkpointed"
    assert f"with a checkpoint at step {saved['step']};" in launcher.stderr

    epochs = saved["step"] * 2 // 20 + 1
    rest = hyperparameters(lr_epoch_schedule=[[epochs, None]])
    last = start(LAUNCHER, rest)
    assert [pod.wait(SLOW_S) for pod in (last, *workers)] == [0, 0, 0]
    assert f"goes on after step {saved['step']}" in last.stdout
    assert [step for step, _ in steps(pods)] == list(range(1, epochs * 10 + 1))
    assert "mAP(segm)/IoU=0.5:0.95: " in last.stdout
    assert "[rank 1] rank 1 of 2: process" in last.stdout
    kept = {path.name for path in pods.log.iterdir()}
    assert {"model.pt", "report.html", "metrics.jsonl", "outcome.json", "rank-1.log"} <= kept
    assert json.loads((pods.log / "model-files.json").read_text()) == {"files": ["model.pt"]}
    job = json.loads((pods.log / "job.json").read_text())
    assert (job["platform"], job["versions"]["horovod"]) == ("eks", "0.28.1")


def test_elastic_pods_come_and_go_and_the_training_goes_on(make_pods: MakePods, data: Path) -> None:
    pods = make_pods(2, distribution="elastic")
    values = hyperparameters(
        images_per_epoch=IMAGES, checkpoint_period=1000, lr_epoch_schedule=[[1000, None]]
    )

    def start(name: str) -> Any:
        return pods.start(name, None, values, data=data, **VARIABLES)

    workers = [start(name) for name in pods.worker_names]
    launcher = start(LAUNCHER)
    wait_until(lambda: size(pods) == 2, SLOW_S)
    begin = time.monotonic()
    pods.lose(workers[0])
    wait_until(lambda: size(pods) == 1, 60)
    alone_s = time.monotonic() - begin
    workers[0] = start("trial-worker-0")
    wait_until(lambda: size(pods) == 2, SLOW_S)
    # Its node is drained: the others let it go, and nobody stops.
    workers[1].terminate()
    assert workers[1].wait(100) == 0
    pods.forget("trial-worker-1")
    wait_until(lambda: size(pods) == 1, SLOW_S)
    workers[1] = start("trial-worker-1")
    wait_until(lambda: size(pods) == 2, SLOW_S)
    assert launcher.process.poll() is None
    # As at a suspension: all pods are asked at once.
    begin = time.monotonic()
    for pod in (*workers, launcher):
        pod.terminate()
    assert [pod.wait(100) for pod in (launcher, *workers)] == [75, 0, 0]
    stop_s = time.monotonic() - begin
    taken = [step for step, _ in steps(pods)]
    assert taken == list(range(1, len(taken) + 1)), "each step once, over all changes"
    assert outcome(pods) == {**outcome(pods), "status": "checkpointed", "step": taken[-1]}
    assert (alone_s < 20, stop_s < 60) == (True, True), (alone_s, stop_s)
