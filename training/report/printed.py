"""Reads the figures of a job from what its first rank printed, where it wrote no file of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from training.report.metrics import Metrics, parse_metrics

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

_OF_COCO = {
    "AP": "IoU=0.5:0.95",
    "AP50": "IoU=0.5",
    "AP75": "IoU=0.75",
    "APs": "small",
    "APm": "medium",
    "APl": "large",
}


@dataclass(frozen=True)
class Grammar:
    """How an algorithm prints figures."""

    figure: re.Pattern[str]
    """Groups `name` and `value`."""
    step: re.Pattern[str]
    """The step that the figures after it belong to, as its first group."""
    time_s: re.Pattern[str] | None = None
    """When that was, in seconds since 1970, as its first group."""
    names: Mapping[str, str] = field(default_factory=dict)
    """This project's name of a figure, where it is another."""

    def name_of(self, printed: str) -> str:
        """Return this project's name of a figure: TensorPack puts the split before `mAP`."""
        _, is_map, rest = printed.partition("mAP(")
        return is_map + rest if is_map else self.names.get(printed, printed)


_TENSORPACK = Grammar(
    # tensorpack/callbacks/monitor.py (ScalarPrinter), callbacks/base.py and train/base.py.
    figure=re.compile(r"@monitor\.py:\d+\] (?P<name>\S.*): (?P<value>\S+)$"),
    step=re.compile(r"Epoch \d+ \(global_step (\d+)\) finished"),
)

GRAMMARS: Mapping[str, Grammar] = {
    "tensorpack": _TENSORPACK,
    "aws-samples": _TENSORPACK,
    "tf2-smddp": Grammar(
        # mask_rcnn/utils/logging_backend.py and mask_rcnn/evaluation.py.
        figure=re.compile(r"\[MaskRCNN\] INFO\s*: (?P<name>[^:]+): (?P<value>\S+)"),
        step=re.compile(r"\[MaskRCNN\] INFO\s*: iteration: (\d+)"),
        time_s=re.compile(r"\[MaskRCNN\] INFO\s*: timestamp: ([\d.]+)"),
        names={
            "Total loss": "total_loss",
            "Learning rate": "learning_rate",
            "throughput": "images_per_second",
            **{name: f"mAP(bbox)/{of}" for name, of in _OF_COCO.items()},
            **{f"mask_{name}": f"mAP(segm)/{of}" for name, of in _OF_COCO.items()},
        },
    ),
}
"""By algorithm. Ours writes metrics.jsonl."""

_NO_FIGURES = frozenset({"timestamp", "iteration", "Total processed steps", "Average throughput"})


def read_printed(files: Iterable[Path], algorithm: str) -> Metrics:
    """Return the figures in the first file that has any; none where the algorithm is not known."""
    grammar = GRAMMARS.get(algorithm)
    if grammar is not None:
        for file in files:
            metrics = parse_metrics(_lines(file, grammar))
            if metrics.last_step is not None:
                return metrics
    return Metrics()


def _lines(file: Path, grammar: Grammar) -> Iterator[str]:
    """Yield the figures of a file as lines of metrics.jsonl."""
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            yield from _entries(lines, grammar)
    except OSError:
        return


def _entries(lines: Iterable[str], grammar: Grammar) -> Iterator[str]:
    block, time_s = _Block(), None
    for line in lines:
        text = _ESCAPES.sub("", line)
        if grammar.time_s is not None and (found := grammar.time_s.search(text)):
            time_s = _number(found[1])
        elif found := grammar.step.search(text):
            yield from block.entries()
            block = _Block(int(found[1]), time_s)
        elif found := grammar.figure.search(text):
            block.take(grammar.name_of(found["name"].strip()), _number(found["value"]))
    yield from block.entries()


@dataclass
class _Block:
    """The figures of one step; those before the first step belong to none."""

    step: int | None = None
    time_s: float | None = None
    train: dict[str, float] = field(default_factory=dict)
    evaluation: dict[str, float] = field(default_factory=dict)

    def take(self, name: str, value: float | None) -> None:
        if value is not None and name not in _NO_FIGURES:
            (self.evaluation if name.startswith("mAP") else self.train)[name] = value

    def entries(self) -> Iterator[str]:
        if self.step is None:
            return
        for kind, values in (("train", self.train), ("evaluation", self.evaluation)):
            if values:
                line = {"kind": kind, "step": self.step, "time_s": self.time_s, "values": values}
                yield json.dumps(line)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
