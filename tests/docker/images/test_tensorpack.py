"""TensorFlow 2.15, Horovod and TensorPack, installed by the script that the Dockerfile runs.

On CPUs, with pictures of 128 pixels: what CUDA and NCCL do is not seen here.

Needs Python 3.11, a C++ compiler, Open MPI, PyPI and github.com. Where that is a mirror, git's own
`url.<base>.insteadOf` names it. TENSORPACK_INSTALL names a folder with what an earlier run of the
script installed (`venv` and `tensorpack`), to leave out the build of Horovod.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.docker.adapters.loading import adapter, job
from training.algorithms import tensorpack

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

SCRIPT = ROOT / "docker" / "tensorpack" / "install.sh"
PROBE = Path(__file__).with_name("tensorpack_probe.py")
REPOSITORY = "https://github.com/tensorpack/tensorpack"
DATA = ROOT / "tests" / "data" / "coco"
PICTURES = 11
"""In its train2017; two of them have no box."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `venv` and `tensorpack`."""
    if "TENSORPACK_INSTALL" in os.environ:
        return Path(os.environ["TENSORPACK_INSTALL"])
    if shutil.which("mpicxx") is None:
        pytest.skip("needs Open MPI with its headers (libopenmpi-dev)")
    reached = subprocess.run(
        ["git", "ls-remote", REPOSITORY, "HEAD"],
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    if reached.returncode:
        pytest.skip(f"{REPOSITORY} cannot be reached")
    folder = tmp_path_factory.mktemp("tensorpack")
    # The tests' interpreter is the image's version too, whatever `python3` is elsewhere.
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    subprocess.run(
        ["bash", SCRIPT, "cpu", folder / "venv", folder / "tensorpack"],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        check=True,
    )
    return folder


@pytest.fixture(scope="module")
def probed(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What the probe found, and what TensorPack printed."""
    folder = tmp_path_factory.mktemp("probe")
    given = job(
        "tensorpack",
        data=DATA,
        log=folder / "log",
        hyperparameters={"images_per_epoch": str(PICTURES), "lr_schedule": "[22, 33, 44]"},
        hosts=1,
        processes_per_host=1,
    )
    program, *arguments = adapter("tensorpack").command(given)[1:]
    place = installed / "tensorpack" / "examples" / "FasterRCNN"
    assert program.endswith("/tensorpack/examples/FasterRCNN/train.py")
    assert (place / "train.py").is_file()
    done = subprocess.run(
        [installed / "venv" / "bin" / "python", PROBE, place, folder / "found.json", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text()), done.stdout


def test_no_git_folder_and_the_version_that_the_image_is_for(
    installed: Path, probed: tuple[dict[str, Any], str]
) -> None:
    assert not list(installed.glob("tensorpack/**/.git"))
    assert probed[0]["tensorflow"] == "2.15.1"


def test_it_takes_the_adapters_arguments(probed: tuple[dict[str, Any], str]) -> None:
    found = probed[0]
    assert found["world_size"] == 1
    assert found["schedule"] == [22, 33, 44]
    assert found["steps_per_epoch"] == PICTURES


def test_it_reads_the_pictures_boxes_and_masks_of_a_train_channel(
    probed: tuple[dict[str, Any], str],
) -> None:
    for point in probed[0]["data"]:
        dtype, (height, width, channels) = point["image"]
        assert (dtype, channels) == ("float32", 3)
        # PREPROC's defaults.
        assert min(height, width) == 800 or max(height, width) == 1333
        (_, (boxes, corners)), (_, (labels,)) = point["gt_boxes"], point["gt_labels"]
        assert corners == 4
        assert boxes == labels > 0
        assert point["gt_masks_packed"][0] == "uint8"
        assert point["gt_masks_packed"][1][:2] == [boxes, height]


def test_the_graph_of_training_has_a_gradient_for_each_trained_variable(
    probed: tuple[dict[str, Any], str],
) -> None:
    graph = probed[0]["graph"]
    assert graph["cost"] == "total_cost:0"
    assert graph["trained"] == 168


def test_the_truth_evaluates_to_one(probed: tuple[dict[str, Any], str]) -> None:
    scores = probed[0]["evaluation"]
    assert len(scores) == 12
    for kind in ("bbox", "segm"):
        assert scores[f"coco_val2017-mAP({kind})/IoU=0.5:0.95"] == pytest.approx(1.0)


def test_each_metric_of_the_job_finds_its_number_in_the_lines_that_it_prints(
    probed: tuple[dict[str, Any], str],
) -> None:
    found, printed = probed
    expected = {**found["losses"]}
    expected |= {name.partition("-")[2]: value for name, value in found["evaluation"].items()}
    lines = [line for line in printed.splitlines() if "monitor.py" in line]
    assert len(tensorpack.METRICS) == 22
    for metric in tensorpack.METRICS:
        matches = [match[1] for line in lines if (match := re.search(metric.regex, line))]
        assert [float(text) for text in matches] == [pytest.approx(expected[metric.name])], metric


@pytest.fixture(scope="module")
def trained(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The log folder of two ranks that trained two epochs, and what they printed."""
    folder = tmp_path_factory.mktemp("training")
    data = folder / "data"
    data.mkdir()
    for entry in DATA.iterdir():
        (data / entry.name).symlink_to(entry)
    (data / "pretrained-models").mkdir()
    # No variable of the model has this name, so that it begins with random weights.
    np.savez(data / "pretrained-models" / "none.npz", nothing=np.zeros(1))
    given = job(
        "tensorpack",
        data=data,
        log=folder / "log",
        hyperparameters={
            "backbone_weights": "none.npz",
            "images_per_epoch": "4",
            "lr_schedule": "[1]",
            "config:DATA.NUM_WORKERS": "1",
            "config:PREPROC.TRAIN_SHORT_EDGE_SIZE": "[128, 128]",
            "config:PREPROC.TEST_SHORT_EDGE_SIZE": "128",
            "config:PREPROC.MAX_SIZE": "160",
            "config:RPN.TRAIN_PER_LEVEL_NMS_TOPK": "200",
        },
        hosts=1,
        processes_per_host=2,
    )
    own = adapter("tensorpack")
    own.prepare(given)
    done = subprocess.run(
        [
            *("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--bind-to", "none"),
            *("--mca", "btl_vader_single_copy_mechanism", "none"),
            installed / "venv" / "bin" / "python",
            installed / "tensorpack" / "examples" / "FasterRCNN" / "train.py",
            *own.command(given)[2:],
        ],
        env={**os.environ, **own.environment(given), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert [Path(path).name for path in own.model_files(given)][:2] == [
        "model-4.index",
        "model-4.data-00000-of-00001",
    ]
    return folder / "log", done.stdout + done.stderr


def test_two_ranks_train_evaluate_and_save(trained: tuple[Path, str]) -> None:
    log, printed = trained
    assert "Horovod Rank=1, Size=2" in printed
    assert "Training has finished!" in printed
    assert "Found 2 images for inference." in printed
    saved = {path.name for path in (log / "checkpoints" / "attempt-1").glob("model-*.index")}
    assert saved == {"model-2.index", "model-4.index"}


def test_the_metrics_of_the_losses_find_a_number_for_each_epoch(
    trained: tuple[Path, str],
) -> None:
    losses = [metric for metric in tensorpack.METRICS if "_loss" in metric.name]
    assert len(losses) == 10
    for metric in losses:
        found = [
            float(match[1])
            for line in trained[1].splitlines()
            if (match := re.search(metric.regex, line))
        ]
        assert len(found) == 2, metric
        assert all(map(math.isfinite, found))
