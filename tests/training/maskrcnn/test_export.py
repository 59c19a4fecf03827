from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner, Result

from training.errors import JobFailed, UsageError
from training.layout import TrainChannel
from training.maskrcnn import export_formats, files
from training.maskrcnn.export import app
from training.maskrcnn.exporting import export_model, read_sample
from training.maskrcnn.model_file import TrainedModel, load_model

# What a user of a .pt2 file does: no word of this package.
ELSEWHERE = """
import json, sys, torch, torchvision
files = {"metadata.json": ""}
run = torch.export.load(sys.argv[1], extra_files=files).module()
height, width = json.loads(sys.argv[2])
boxes, labels, scores, masks = run(
    torch.zeros((3, height, width), dtype=torch.uint8), torch.tensor([height, width])
)
assert not any(name.startswith("training") for name in sys.modules)
print(json.dumps([json.loads(files["metadata.json"]), len(boxes), list(masks.shape[1:])]))
"""
ELSEWHERE_ONNX = """
import json, sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
height, width = json.loads(sys.argv[2])
boxes, labels, scores, masks = session.run(None, {
    "pixels": numpy.zeros((3, height, width), numpy.uint8),
    "size": numpy.array([height, width]),
})
assert "torch" not in sys.modules
metadata = session.get_modelmeta().custom_metadata_map["metadata"]
print(json.dumps([json.loads(metadata), len(boxes), list(masks.shape[1:])]))
"""


def invoke(*arguments: Path | str) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def run_elsewhere(code: str, file: Path, size: tuple[int, int], folder: Path) -> list[Any]:
    command = [sys.executable, "-c", code, str(file), json.dumps(size)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    answer: list[Any] = json.loads(done.stdout)
    return answer


class Copy:
    """A format whose file is nothing, and which runs as the test says."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes
        self._model: Any = None

    def check_here(self) -> None:
        pass

    def write(self, model: Any, example: Any, dynamic: bool, metadata: str) -> bytes:
        self._model = model
        return b"content"

    def read(self, content: bytes) -> Any:
        def run(pixels: Tensor, size: Tensor) -> tuple[Tensor, ...]:
            boxes, labels, scores, masks = self._model(pixels, size)
            if self._changes.get("fails"):
                raise RuntimeError("u0 >= 2")
            if "boxes" in self._changes:
                boxes = boxes + self._changes["boxes"]
            if "scores" in self._changes:
                scores = scores * self._changes["scores"]
            count = len(boxes) - self._changes.get("fewer", 0)
            return boxes[:count], labels[:count], scores[:count], masks[:count]

        return run


@pytest.fixture
def trained(one_rank: Any) -> TrainedModel:
    return load_model(one_rank.channel.model, torch.device("cpu"))


@pytest.fixture
def sample(trained: TrainedModel, shapes: TrainChannel) -> Tensor:
    (picture, *_) = sorted(shapes.images("val2017").iterdir())
    return read_sample(picture, trained.hyperparameters)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boxes": 0.1}, r"boxes of the exported model differ by 0\.[01]\d* from the model's"),
        ({"boxes": float("nan")}, "boxes of the exported model differ by nan"),
        ({"scores": 1.01}, "scores of the exported model differ"),
        ({"fails": True}, r"the exported model fails for a picture of \[64, 64\].*u0 >= 2"),
        ({"fewer": 1}, r"finds \d+ objects in the sample picture, the model itself \d+"),
    ],
)
def test_a_file_that_does_not_do_the_same_is_not_written(
    changes: Any, message: str, trained: TrainedModel, sample: Tensor, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(b"before")
    with pytest.raises(JobFailed, match=message):
        export_model(trained, sample, path, Copy(**changes), fixed=None)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_one_that_does_is_written_and_its_differences_told(
    trained: TrainedModel, sample: Tensor, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt2"
    exported = export_model(trained, sample, path, Copy(boxes=0.01), fixed=(64, 96))
    assert path.read_bytes() == b"content"
    assert exported.detections >= 1
    assert exported.differences["boxes"] == pytest.approx(0.01, abs=1e-3)
    assert exported.differences["labels"] == 0
    with pytest.raises(JobFailed, match=r"none/model\.pt2: cannot be written"):
        export_model(trained, sample, tmp_path / "none" / "model.pt2", Copy(), fixed=None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "model.bin"], "must end with .pt2 or .onnx"),
        (["--output", "none/model.pt2"], "none is no folder"),
        (["--output", "folder.pt2"], "folder.pt2: cannot be written"),
        (["--output", "model.pt2", "--size", "100x64"], "--size 100x64: must be HEIGHTxWIDTH"),
        (["--output", "model.pt2", "--size", "32x64"], "multiples of 32 from 64 on"),
        (["--output", "model.pt2", "--size", "big"], "--size big: must be HEIGHTxWIDTH"),
    ],
)
def test_wrong_usage_says_what_is_allowed(
    options: list[str], message: str, one_rank: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.pt2").mkdir()
    done = invoke(one_rank.channel.model, *options)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_a_read_only_folder_is_told_as_such(
    one_rank: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(files, "write_atomically", refuse)
    path = tmp_path / "model.pt2"
    done = invoke(one_rank.channel.model, "--output", path)
    assert isinstance(done.exception, UsageError)
    told = str(done.exception)
    assert told == f"--output {path}: cannot be written to (Read-only file system)"


def test_without_its_packages_onnx_says_what_to_install(
    one_rank: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(export_formats, "find_spec", lambda name: None)
    done = invoke(one_rank.channel.model, "--output", tmp_path / "model.onnx")
    assert isinstance(done.exception, UsageError)
    assert "pip install -r requirements-export.txt" in str(done.exception)


def test_a_torch_file_runs_without_this_package(
    one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt2"
    (picture, *_) = sorted(shapes.images("val2017").iterdir())
    done = invoke(
        *(one_rank.channel.model, "--output", path, "--size", "64x96"),
        *("--sample", picture, "--format", "json"),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["size_bytes"] == path.stat().st_size
    assert told["detections"] >= 1
    assert told["differences"]["boxes"] < 1e-3
    metadata, count, mask = run_elsewhere(ELSEWHERE, path, (64, 96), tmp_path)
    assert (count <= 10, mask) == (True, [28, 28])
    assert metadata["fixed_size"] == [64, 96]
    assert metadata["categories"]["4"] == "star"
    assert set(metadata["inputs"]) == {"pixels", "size"}
    assert list(metadata["outputs"]) == ["boxes", "labels", "scores", "masks"]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["model.pt2", "model.onnx"])
@pytest.mark.timeout(1800)
def test_files_for_any_size_run_without_this_package(
    name: str, one_rank: Any, shapes: TrainChannel, tmp_path: Path
) -> None:
    (picture, *_) = sorted(shapes.images("val2017").iterdir())
    done = invoke(one_rank.channel.model, "--output", tmp_path / name, "--sample", picture)
    assert done.exit_code == 0, done.output
    code = ELSEWHERE if name.endswith(".pt2") else ELSEWHERE_ONNX
    for size in ((96, 96), (96, 160), (640, 448)):
        metadata, _, mask = run_elsewhere(code, tmp_path / name, size, tmp_path)
        assert mask == [28, 28]
    assert metadata["fixed_size"] is None
    assert metadata["short_side"] == 64
