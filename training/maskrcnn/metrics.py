"""Metrics for people and programs: stdout, metrics.jsonl and TensorBoard; nothing on other ranks.

On stdout each metric is a line `name: value`, where CloudWatch and SageMaker find it with the
regular expression `.*NAME:\\s*(\\S+).*`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from training.cli import log
from training.errors import JobFailed
from training.layout import LogChannel
from training.maskrcnn.files import write_atomically

Kind = Literal["train", "evaluation"]

TRAIN: Kind = "train"
Pictures = Iterable[tuple[str, NDArray[np.uint8]]]
"""Names and (H, W, 3) RGB. Made while they are taken: a recorder that does not show them costs
nothing."""


class Line(NamedTuple):
    """A line of metrics.jsonl."""

    kind: Kind
    step: int
    epoch: float
    time_s: float
    """Since 1970, in UTC."""
    values: Mapping[str, float]


class Recorder(Protocol):
    """Takes metrics and messages."""

    @property
    def last(self) -> Line | None:
        """The last line about training, the same on all ranks but for the times of the host."""

    def record(self, kind: Kind, values: Mapping[str, float], *, step: int, epoch: float) -> None:
        """Take metrics after so many steps and epochs."""

    def show(self, name: str, pictures: Pictures, *, step: int) -> None:
        """Take pictures; those of one name are a row in time."""

    def say(self, message: str) -> None:
        """Show a line of progress."""

    def close(self) -> None:
        """Write out what is buffered."""


class NullRecorder:
    """Of the ranks that stay silent."""

    def __init__(self, last: Line | None = None) -> None:
        self.last = last

    def record(self, kind: Kind, values: Mapping[str, float], *, step: int, epoch: float) -> None:
        if kind == TRAIN:
            self.last = _line(kind, values, step, epoch)

    def show(self, name: str, pictures: Pictures, *, step: int) -> None:
        pass

    def say(self, message: str) -> None:
        pass

    def close(self) -> None:
        pass


class LineRecorder(NullRecorder):
    """Of the other ranks, where all are asked to show their progress."""

    def say(self, message: str) -> None:
        log.print(message, markup=False)


class FileRecorder:
    """Of rank 0."""

    def __init__(self, channel: LogChannel, *, step: int, last: Line | None = None) -> None:
        """Go on after a step; what was recorded later belongs to steps that are taken again.

        Args:
            last: What was to be recorded at last: whoever was rank 0 before may have been lost
                between the step and its line.
        """
        # Takes seconds and is of no use to the other ranks.
        from torch.utils.tensorboard import SummaryWriter

        self._root = channel.root
        with self._written():
            written = _drop_later_lines(channel, step)
            self._lines = channel.metrics.open("a", encoding="utf-8")
            self._events = SummaryWriter(str(channel.events), purge_step=step + 1)
        self.last = last
        if last is not None and written < last.step <= step:
            self._write(last)

    def record(self, kind: Kind, values: Mapping[str, float], *, step: int, epoch: float) -> None:
        line = _line(kind, values, step, epoch)
        if kind == TRAIN:
            self.last = line
        self._write(line)

    def _write(self, line: Line) -> None:
        values, step = line.values, line.step
        for name, value in values.items():
            print(f"{name}: {value:.6g}")  # noqa: T201 (stdout is where metrics are read from)
        # Seen at once, through a pipe too.
        print(end="", flush=True)  # noqa: T201
        with self._written():
            for name, value in values.items():
                self._events.add_scalar(name, value, step)
            self._events.flush()
            self._lines.write(json.dumps(line._asdict()) + "\n")
            self._lines.flush()

    def show(self, name: str, pictures: Pictures, *, step: int) -> None:
        for picture_name, pixels in pictures:
            with self._written():
                self._events.add_image(f"{name}/{picture_name}", pixels, step, dataformats="HWC")
        with self._written():
            self._events.flush()

    def say(self, message: str) -> None:
        log.print(message, markup=False)

    def close(self) -> None:
        with self._written():
            self._lines.close()
            self._events.close()

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Name the folder where metrics cannot be written: errors of open files do not."""
        try:
            yield
        except OSError as error:
            raise JobFailed(
                f"{self._root}: metrics cannot be written ({error.strerror}); the checkpoints are "
                "still there. Make room and run the same job again with resume"
            ) from error


def _line(kind: Kind, values: Mapping[str, float], step: int, epoch: float) -> Line:
    return Line(kind, step, round(epoch, 6), round(time.time(), 3), dict(values))


def _drop_later_lines(channel: LogChannel, step: int) -> int:
    """Remove the lines after a step, and a last one that was cut off.

    Returns:
        The step of the last line about training that is left; 0 without any.
    """
    if not channel.metrics.exists():
        return 0
    kept, last = [], 0
    for line in channel.metrics.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
            if found["step"] <= step:
                kept.append(line + "\n")
                last = found["step"] if found["kind"] == TRAIN else last
        except (ValueError, KeyError, TypeError):
            continue
    write_atomically(channel.metrics, "".join(kept).encode())
    return last
