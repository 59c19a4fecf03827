"""Metrics for people and programs: stdout, metrics.jsonl and TensorBoard; nothing on other ranks.

On stdout each metric is a line `name: value`, where CloudWatch and SageMaker find it with the
regular expression `.*NAME:\\s*(\\S+).*`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from training.cli import log
from training.errors import JobFailed
from training.layout import LogChannel
from training.maskrcnn.files import write_atomically

Kind = Literal["train", "evaluation"]
Pictures = Iterable[tuple[str, NDArray[np.uint8]]]
"""Names and (H, W, 3) RGB. Made while they are taken: a recorder that does not show them costs
nothing."""


class Recorder(Protocol):
    """Takes metrics and messages."""

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

    def record(self, kind: Kind, values: Mapping[str, float], *, step: int, epoch: float) -> None:
        pass

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

    def __init__(self, channel: LogChannel, *, step: int) -> None:
        """Go on after a step; what was recorded later belongs to steps that are taken again."""
        # Takes seconds and is of no use to the other ranks.
        from torch.utils.tensorboard import SummaryWriter

        self._root = channel.root
        with self._written():
            _drop_later_lines(channel, step)
            self._lines = channel.metrics.open("a", encoding="utf-8")
            self._events = SummaryWriter(str(channel.events), purge_step=step + 1)

    def record(self, kind: Kind, values: Mapping[str, float], *, step: int, epoch: float) -> None:
        for name, value in values.items():
            print(f"{name}: {value:.6g}")  # noqa: T201 (stdout is where metrics are read from)
        # Seen at once, through a pipe too.
        print(end="", flush=True)  # noqa: T201
        line = {
            "kind": kind,
            "step": step,
            "epoch": round(epoch, 6),
            "time_s": round(time.time(), 3),
            "values": dict(values),
        }
        with self._written():
            for name, value in values.items():
                self._events.add_scalar(name, value, step)
            self._events.flush()
            self._lines.write(json.dumps(line) + "\n")
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


def _drop_later_lines(channel: LogChannel, step: int) -> None:
    """Remove the lines after a step, and a last one that was cut off."""
    if not channel.metrics.exists():
        return
    kept = []
    for line in channel.metrics.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError):
            continue
    write_atomically(channel.metrics, "".join(kept).encode())
