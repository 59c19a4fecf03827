"""The real image of the first-party trainer, its CPU variant: built, and run as two hosts.

The build takes what PyPI has of PyTorch, gigabytes of it, and compiles Horovod.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from tests.docker.containers.workbench import make_bench, steps, wait_for
from tests.docker.image.asking import ask
from training.container_engine import Engine, find_engine

pytestmark = [pytest.mark.container, pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    if os.geteuid() or shutil.which("podman") is None:
        pytest.skip("containers here take podman, and root to run it")
    return find_engine("podman", ("podman",))


def build() -> dict[str, Any]:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "training.images", "build", "--algorithm", "horovod"),
            *("--variant", "cpu", "--engine", "podman", "--base-image", "debian"),
            *("--format", "json"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def image(engine: Engine) -> str:
    name: str = build()["image"]
    return name


def losses(path: Path) -> list[float]:
    entries = map(json.loads, path.read_text().splitlines())
    return [entry["values"]["total_loss"] for entry in entries if entry["kind"] == "train"]


def processes(engine: Engine, container: str, word: str) -> list[int]:
    """Return this machine's numbers of a container's processes whose command has the word."""
    lines = engine.ask("top", container, "hpid", "args").stdout.splitlines()[1:]
    return [int(line.split()[0]) for line in lines if word in line]


def test_an_image_that_is_built_is_not_built_again(image: str) -> None:
    assert build()["built"] is False


def test_the_image_has_what_the_entry_point_takes_and_no_key(engine: Engine, image: str) -> None:
    check = (
        "import horovod.torch as h, torch, torchvision, training.maskrcnn.train, training.report;"
        "assert h.mpi_built() and h.gloo_built() and not h.nccl_built();"
        "print(torch.__version__.split('+')[0], torchvision.__version__.split('+')[0])"
    )
    assert ask(engine, image, "python3", "-c", check).split() == ["2.14.1", "0.29.1"]
    assert ask(engine, image, "cat", "/opt/mask-rcnn/algorithm") == "horovod\n"
    assert ask(engine, image, "sh", "-c", "ls /etc/ssh | grep -c key || true") == "0\n"
    find = "for name in mpirun ssh sshd ip; do command -v $name; done"
    assert len(ask(engine, image, "sh", "-c", find).splitlines()) == 4
    label = engine.ask("image", "inspect", "--format", "{{json .Labels}}", image).stdout
    assert json.loads(label)["mask-rcnn.sources"] == image.rpartition(":")[2]


def test_two_hosts_train_to_a_lower_loss_stop_and_go_on(
    image: str, tmp_path: Path, local_aws: LocalAws
) -> None:
    bench = make_bench(
        tmp_path, local_aws, {}, train=40, lr_epoch_schedule=[[3, None]], base_learning_rate=0.01
    )
    log = bench.log("real")
    with bench.start("real", None) as launcher:
        wait_for(lambda: len(steps(log)) > 20, launcher)
        launcher.send_signal(signal.SIGTERM)
        said = launcher.communicate(timeout=300)[1]
    assert launcher.returncode == 75, said
    with bench.start("real", None, "--resume") as launcher:
        said = launcher.communicate(timeout=900)[1]
    assert launcher.returncode == 0, said
    assert image in said
    assert steps(log) == list(range(1, 61))
    values = losses(log.metrics)
    assert mean(values[-10:]) < 0.8 * mean(values[:10])
    assert "mAP(segm)/IoU=0.5:0.95: " in said
    assert "model.tar.gz: s3://" in said


def test_a_rank_that_is_killed_is_the_reason(
    engine: Engine, image: str, tmp_path: Path, local_aws: LocalAws
) -> None:
    bench = make_bench(tmp_path, local_aws, {}, train=400)
    with bench.start("killed", None) as launcher:
        wait_for(lambda: steps(bench.log("killed")), launcher)
        names = engine.ask("ps", "--format", "{{.Names}}").stdout.split()
        (victim,) = [name for name in names if name.endswith("-algo-2")]
        os.kill(processes(engine, victim, "training.maskrcnn.train")[0], signal.SIGKILL)
        said = launcher.communicate(timeout=300)[1]
    assert launcher.returncode == 1, said
    assert "rank 1" in said.rpartition("error: the job failed:")[2]
    assert "SIGKILL" in said.rpartition("error: the job failed:")[2]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
