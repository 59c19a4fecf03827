"""A tiny model, tiny pictures, and runs of the trainer inside the test's process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from tests.training.maskrcnn.tiny_job import TINY
from training.data.shapes import ShapesSet, make_shapes
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.trainer import Job, Trainer

# In these processes and in those that they start: two threads add up in another order than one, so
# that runs that are compared must have the same.
os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)

Tiny = Callable[..., Hyperparameters]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Two cores are shared with other tests."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    """Hyperparameters of the tiny model, with changes."""

    def make(**changes: Any) -> Hyperparameters:
        return read_hyperparameters({**TINY, **changes}, source="test")

    return make


@pytest.fixture(scope="session")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> TrainChannel:
    """Twenty pictures of shapes to train on, and four to validate."""
    root = tmp_path_factory.mktemp("shapes") / "train"
    make_shapes(root, ShapesSet(train=20, val=4, size=64))
    return TrainChannel(root)


@dataclass
class CocoSet:
    """A data set that a test writes by hand; each split has the same pictures of 40 x 20."""

    root: Path

    def write(
        self,
        annotations: list[dict[str, Any]],
        *,
        pictures: int = 2,
        split: str = "train2017",
        categories: Mapping[int, str] | None = None,
    ) -> TrainChannel:
        channel = TrainChannel(self.root)
        channel.images(split).mkdir(parents=True)
        channel.annotations(split).parent.mkdir(exist_ok=True)
        images = [
            {"id": number, "file_name": f"{number}.jpg", "width": 40, "height": 20}
            for number in range(1, pictures + 1)
        ]
        for image in images:
            picture = Image.new("RGB", (40, 20), (image["id"] * 40 % 256, 90, 160))
            picture.save(channel.images(split) / str(image["file_name"]))
        names = categories or {3: "cat", 7: "dog"}
        document = {
            "images": images,
            "annotations": annotations,
            "categories": [{"id": key, "name": name} for key, name in names.items()],
        }
        channel.annotations(split).write_text(json.dumps(document), encoding="utf-8")
        return channel


@pytest.fixture
def coco_set(tmp_path: Path) -> CocoSet:
    return CocoSet(tmp_path / "coco")


def annotation(**changes: Any) -> dict[str, Any]:
    """Return an annotation of a square at (10, 5), 8 pixels wide, with changes."""
    return {
        "id": 1,
        "image_id": 1,
        "category_id": 3,
        "bbox": [10, 5, 8, 8],
        "area": 64,
        "iscrowd": 0,
        "segmentation": [[10, 5, 18, 5, 18, 13, 10, 13]],
        **changes,
    }


@pytest.fixture(name="annotation", scope="session")
def annotation_fixture() -> Callable[..., dict[str, Any]]:
    return annotation


class Stop:
    """Stands for SIGTERM."""

    def __init__(self) -> None:
        self.is_requested = False

    @property
    def is_final(self) -> bool:
        return self.is_requested

    def close(self) -> None:
        """There is no signal to heed."""


@dataclass
class Run:
    """What a run of the trainer left."""

    ending: str
    channel: LogChannel

    def train_values(self, name: str) -> dict[int, float]:
        """Return a metric of each logged step."""
        return {
            line["step"]: line["values"][name] for line in self.lines() if line["kind"] == "train"
        }

    def lines(self) -> Iterator[dict[str, Any]]:
        for line in self.channel.metrics.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)

    def weights(self) -> dict[str, torch.Tensor]:
        weights: dict[str, torch.Tensor] = torch.load(self.channel.model)["model"]
        return weights


def train_here(
    data: TrainChannel, log: Path, hyperparameters: Hyperparameters, stop: Stop | None = None
) -> Run:
    """Run the trainer in this process, as one rank."""
    log.mkdir(parents=True, exist_ok=True)
    channel = LogChannel(log)
    engine = TorchEngine()
    trainer = Trainer(
        Job(
            engine=engine,
            hyperparameters=hyperparameters,
            data=data,
            log=channel,
            stop=stop or Stop(),
        )
    )
    ending = trainer.run()
    trainer.close()
    engine.close()
    return Run(ending, channel)


@pytest.fixture(scope="session")
def train_in_process() -> Callable[..., Run]:
    return train_here


@pytest.fixture(scope="session")
def one_rank(shapes: TrainChannel, tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A whole run of one rank: twelve steps of four pictures."""
    return train_here(shapes, tmp_path_factory.mktemp("one-rank"), tiny(checkpoint_period=5))


@pytest.fixture
def stop() -> Stop:
    return Stop()
