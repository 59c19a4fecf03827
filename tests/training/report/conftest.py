"""Sample log channels, and a headless Chromium that tests drive without another package."""

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from training.layout import LogChannel, TrainChannel

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
TIMEOUT_S = 60


class Browser:
    """One page of a headless Chromium.

    Messages of the DevTools protocol travel as JSON with a zero byte after each, to the browser on
    its file descriptor 3 and from it on 4.
    """

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        script = 'exec "$0" "$@" 3<&"$CDP_IN" 4>&"$CDP_OUT"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            env={**os.environ, "CDP_IN": str(to_browser), "CDP_OUT": str(from_browser)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._ids = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; events on the way are kept."""
        message = {"id": next(self._ids), "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of that size, and wait until it is loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + TIMEOUT_S
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < deadline, "the page did not load"
            self._next()

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def close(self) -> None:
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, AssertionError, EOFError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def _next(self) -> dict[str, Any]:
        """Return the next message, an answer or an event; events are kept too."""
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 16)
            if not chunk:
                raise EOFError("Chromium ended")
            self._buffer += chunk
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        if "method" in message:
            self.events.append(message)
        return message


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    page = Browser(program, tmp_path_factory.mktemp("chromium"))
    yield page
    page.close()


STARTED_S = 1_764_315_000.0
COCO = Path(__file__).resolve().parents[2] / "data" / "coco"


def train_line(step: int, **values: float) -> str:
    measured = {
        "total_loss": 4.0 / step,
        "fastrcnn_losses/box_loss": 1.0 / step,
        "maskrcnn_loss/maskrcnn_loss": 2.0 / step,
        "learning_rate": 0.001,
        "images_per_second": 30.0,
        "data_wait_share": 0.02,
        "memory_mib": 700.0 + step,
    }
    return metrics_line("train", step, STARTED_S + step, measured | values)


def evaluation_line(step: int, **values: float) -> str:
    measured = {
        f"mAP({task})/{of}": value
        for task, value in (("bbox", 0.7), ("segm", 0.6))
        for of in ("IoU=0.5:0.95", "IoU=0.5", "IoU=0.75", "medium", "large")
    }
    measured |= {"mAP(bbox)/small": -1.0, "mAP(segm)/small": -1.0}
    return metrics_line("evaluation", step, STARTED_S + step + 5, measured | values)


def metrics_line(kind: str, step: int, time_s: float, values: dict[str, float]) -> str:
    entry = {"kind": kind, "step": step, "epoch": step / 10, "time_s": time_s, "values": values}
    return json.dumps(entry)


def rle(polygons: list[list[float]], height: int, width: int) -> dict[str, Any]:
    from pycocotools import mask as coco_mask

    packed = coco_mask.merge(coco_mask.frPyObjects(polygons, height, width))
    return {"size": [height, width], "counts": packed["counts"].decode()}


@dataclass
class Sample:
    """Writes a log channel as the trainer and the launcher leave it."""

    log: LogChannel

    train_line = staticmethod(train_line)
    evaluation_line = staticmethod(evaluation_line)
    metrics_line = staticmethod(metrics_line)
    rle = staticmethod(rle)

    def write_all(self, *, status: str | None = "completed", steps: int = 40) -> None:
        self.write_job()
        self.write_metrics(steps)
        self.write_predictions()
        self.write_evaluation(step=steps)
        if status is not None:
            self.write_outcome(status, steps)
        for rank in (0, 1):
            self.log.rank(rank).write_text(f"rank {rank} started\nstep 1\n", encoding="utf-8")

    def write_job(self, **changes: Any) -> None:
        job = {
            "job_name": "mask-rcnn-s3-trial",
            "platform": "local",
            "algorithm": "horovod",
            "spec": {"data_source": "s3", "instances": {"count": 1}},
            "request": {"data": str(COCO), "world_size": 2},
            "world_size": 2,
            "command": ["python", "-m", "training.launch", "jobs/a b.yaml", "--yes"],
        }
        self.log.job.write_text(json.dumps(job | changes), encoding="utf-8")
        self.log.hyperparameters.write_text(json.dumps({"seed": 987}), encoding="utf-8")

    def write_metrics(self, steps: int) -> None:
        with self.log.metrics.open("w", encoding="utf-8") as file:
            for step in range(10, steps + 1, 10):
                file.write(train_line(step) + "\n")
            file.write(evaluation_line(steps) + "\n")

    def write_outcome(self, status: str, step: int, message: str = "") -> None:
        outcome = {"status": status, "step": step, "message": message}
        self.log.outcome.write_text(json.dumps(outcome), encoding="utf-8")

    def write_predictions(self, *, split: str = "val2017", step: int = 40) -> None:
        """Predict the truth itself, with descending scores."""
        annotations = json.loads(
            (COCO / "annotations" / f"instances_{split}.json").read_text(encoding="utf-8")
        )
        sizes = {image["id"]: (image["height"], image["width"]) for image in annotations["images"]}
        detections = [
            {
                "image_id": one["image_id"],
                "category_id": one["category_id"],
                "segmentation": rle(one["segmentation"], *sizes[one["image_id"]]),
                "bbox": one["bbox"],
                "score": round(1 - index / 100, 3),
            }
            for index, one in enumerate(annotations["annotations"])
            if not one["iscrowd"]
        ]
        document = {"split": split, "step": step, "detections": detections}
        self.log.predictions.write_text(json.dumps(document), encoding="utf-8")

    def write_evaluation(self, *, split: str = "val2017", step: int = 40, **changes: Any) -> None:
        """Tell of all categories of the data set: each is found a little worse than the one before
        it and sometimes taken for it; the last one has no object."""
        annotations = json.loads(
            (COCO / "annotations" / f"instances_{split}.json").read_text(encoding="utf-8")
        )
        categories = sorted(annotations["categories"], key=lambda one: one["id"])
        document = evaluation_document(categories, [one["id"] for one in annotations["images"]])
        document |= {"split": split, "step": step} | changes
        self.log.evaluation.write_text(json.dumps(document), encoding="utf-8")


def evaluation_document(categories: list[dict[str, Any]], image_ids: list[int]) -> dict[str, Any]:
    """Return evaluation.json: 100, 99, ... objects of the categories, the last one has none."""
    kinds = {"bbox": 0.9, "segm": 0.8}
    ranges = {"IoU=0.5": 1.0, "IoU=0.75": 0.6, "IoU=0.5:0.95": 0.5}
    last = len(categories) - 1
    objects = [0 if at == last else 100 - at for at in range(len(categories))]

    def value(at: int, kind: str, of: str) -> float | None:
        return None if at == last else round(kinds[kind] * ranges[of] * objects[at] / 100, 6)

    def curve(at: int, kind: str, of: str) -> list[float] | None:
        top = value(at, kind, of)
        return None if top is None else [round(top * (1 - r / 100), 6) for r in range(101)]

    ids = [one["id"] for one in categories]
    confusion: list[list[int | None]] = []
    for at, key in enumerate(ids[:last]):
        before = ids[at - 1] if at else None
        confusion += [[key, key, objects[at] // 2], [key, None, 10], [None, key, 5 + at]]
        confusion += [[key, before, at]] if at else []
    pictures, half = len(image_ids), len(image_ids) // 2
    return {
        "version": 1,
        "categories": [
            {
                "id": one["id"],
                "name": one["name"],
                "objects": objects[at],
                "ap": {kind: {of: value(at, kind, of) for of in ranges} for kind in kinds},
            }
            for at, one in enumerate(categories)
        ],
        "curves": {
            kind: {
                of: [curve(at, kind, of) for at in range(len(categories))]
                for of in ("IoU=0.5", "IoU=0.75")
            }
            for kind in kinds
        },
        "matching": {"kind": "segm", "min_score": 0.5, "min_iou": 0.5},
        "confusion": confusion,
        "pictures": {
            "ids": image_ids,
            "right": [4] * pictures,
            "wrong": list(range(pictures)),
            "missed": [1] * pictures,
            "f1": [round(8 / (9 + at), 4) for at in range(pictures)],
        },
        "best": image_ids[:half],
        "worst": image_ids[::-1][:half],
    }


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    root = tmp_path / "log-trial"
    root.mkdir()
    return Sample(LogChannel(root))


@pytest.fixture
def coco() -> TrainChannel:
    return TrainChannel(COCO)
