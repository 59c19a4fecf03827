"""What TensorPack's Mask R-CNN and AWS's variant of it leave: figures, and perhaps detections."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.report.metrics import Metrics, parse_metrics
from training.told import Told

STATISTICS = ("stats.json", "stat.json")
"""TensorPack's JSONWriter: a list with an object an epoch, by its name of today and of the past
(https://tensorpack.readthedocs.io/en/latest/modules/callbacks.html)."""

TENSORFLOW = "*.index"
"""Of each checkpoint that TensorFlow saves."""

_ATTEMPT = re.compile(r"attempt-(\d+)")

_OUTPUTS = re.compile(r"(?:coco_)?(?P<split>.+)-outputs(?P<step>\d+)(?:\.json)?")
"""What an evaluation leaves, in COCO's result format: AWS's variant always, TensorPack itself in
some versions (MaskRCNN/eval.py of aws-samples/mask-rcnn-tensorflow at 1ff59f58eb64)."""

_COUNTERS = ("global_step", "epoch_num")


@dataclass(frozen=True)
class Outputs:
    """The file of one evaluation."""

    path: Path
    split: str
    step: int


def find_attempts(log: Path) -> tuple[Path, ...]:
    """Return the folders that TensorPack was given in a job's log folder, in their order.

    They are those of this project's images, or of the original tutorial: `train_log/<name>`.
    """
    numbered = {
        int(match[1]): path
        for path in _folders(log / "checkpoints")
        if (match := _ATTEMPT.fullmatch(path.name))
    }
    of_tutorial = [
        path
        for path in _folders(log / "train_log")
        if any((path / name).is_file() for name in STATISTICS) or any(path.glob(TENSORFLOW))
    ]
    return (*of_tutorial, *(numbered[number] for number in sorted(numbered)))


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []


def read_statistics(attempts: Sequence[Path]) -> Metrics:
    """Return the figures of a job, of all its starts."""
    files = (attempt / name for attempt in attempts for name in STATISTICS)
    return parse_metrics(line for file in files for line in _lines(file))


def _lines(path: Path) -> Iterator[str]:
    """Yield the entries of a file as lines of metrics.jsonl; one that cannot be read has none."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("global_step"), int):
            yield from _lines_of(entry)


def _lines_of(entry: dict[str, Any]) -> Iterator[str]:
    evaluation, train = {}, {}
    for name, value in entry.items():
        _, found, rest = name.partition("mAP(")
        if found:
            # TensorPack puts the split before it, AWS's variant does not.
            evaluation[found + rest] = value
        elif name not in _COUNTERS:
            train[name] = value
    for kind, values in (("train", train), ("evaluation", evaluation)):
        if values:
            line = {"kind": kind, "step": entry["global_step"], "epoch": entry.get("epoch_num")}
            yield json.dumps(line | {"values": values})


def newest_outputs(attempts: Sequence[Path]) -> Outputs | None:
    """Return the file of the last evaluation that left one."""
    found = [
        Outputs(path, match["split"], int(match["step"]))
        for attempt in attempts
        for path in sorted(attempt.iterdir())
        if (match := _OUTPUTS.fullmatch(path.name))
    ]
    return max(found, key=lambda outputs: outputs.step, default=None)


def read_outputs(outputs: Outputs) -> list[dict[str, Any]]:
    """Return the detections, in COCO's result format.

    Raises:
        Told: The file is not whole.
    """
    try:
        detections = json.loads(outputs.path.read_text(encoding="utf-8"))
        known = ("image_id", "category_id", "bbox", "score")
        if all(all(key in one for key in known) for one in detections):
            return list(detections)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise Told(f"{outputs.path}: cannot be read: {error}") from error
    raise Told(f"{outputs.path}: not in COCO's result format")
