"""One job's logs, as a notebook asks for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.errors import TrainingError
from training.layout import TrainChannel
from training.report.metrics import Metrics, read_metrics
from training.report.tensorpack import newest_outputs, read_outputs, read_statistics
from training.told import Told
from training.viewing.found import JobLog
from training.viewing.html import Html, charts, pictures

if TYPE_CHECKING:
    from training.maskrcnn.data.coco import Split


@dataclass(frozen=True)
class View:
    """The logs of a job that runs or has ended; they are read anew each time."""

    log: JobLog

    def metrics(self) -> Html:
        """Return losses, learning rate and COCO's averages as charts."""
        return charts(self.log.folder.name, self._read_metrics())

    def pictures(self, data: str | Path, *, split: str = "val2017", count: int = 8) -> Html:
        """Return pictures of a split, each with the truth beside what was detected.

        The newest checkpoint of our trainer detects now. TensorPack's need TensorFlow and a GPU:
        of theirs it is what the last evaluation found, where it left that.

        Args:
            data: The data set's folder: `<split>` and `annotations/instances_<split>.json`.
            split: Of which pictures; of TensorPack's it is the evaluated one.
            count: How many, spread evenly over those with objects.

        Raises:
            Told: There is no checkpoint yet, nothing was left, or the data set cannot be read.
        """
        with told():
            if self.log.is_of_tensorpack:
                return self._left(TrainChannel(Path(data)), count)
            return self._detected(TrainChannel(Path(data)), split, count)

    def _read_metrics(self) -> Metrics:
        if self.log.is_of_tensorpack:
            return read_statistics(self.log.attempts)
        return read_metrics(self.log.channel.metrics)

    def _detected(self, train: TrainChannel, split: str, count: int) -> Html:
        # Here, since torch takes seconds.
        from training.maskrcnn.data.coco import read_split
        from training.maskrcnn.showcase import drawn_pictures, shown_records
        from training.viewing.detection import detect, load_newest

        trained = load_newest(self.log.checkpoints, say)
        whole = read_split(train, split)
        found = detect(trained, shown_records(whole, count=count), say)
        return pictures(_lead(whole), drawn_pictures(whole, found, count=count))

    def _left(self, train: TrainChannel, count: int) -> Html:
        from training.maskrcnn.data.coco import read_split
        from training.maskrcnn.found import Found
        from training.maskrcnn.showcase import drawn_pictures, shown_records

        outputs = newest_outputs(self.log.attempts)
        if outputs is None:
            raise Told(
                f"{self.log.folder}: no evaluation has left its detections there; metrics() and "
                "TensorBoard show its figures"
            )
        say(f"detections of step {outputs.step:,}: {outputs.path}")
        whole = read_split(train, outputs.split)
        shown = {record.image_id for record in shown_records(whole, count=count)}
        kept = [one for one in read_outputs(outputs) if one["image_id"] in shown]
        found = Found.from_coco(kept, with_masks=all("segmentation" in one for one in kept))
        return pictures(_lead(whole), drawn_pictures(whole, found, count=count))


@contextmanager
def told() -> Iterator[None]:
    """Turn every error that is meant for the user into `Told`."""
    try:
        yield
    except Told:
        raise
    except TrainingError as error:
        raise Told(str(error)) from error


def say(line: str) -> None:
    """Print a line below the cell, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _lead(split: Split) -> str:
    from training.report.dataset import MIN_SCORE

    return (
        f"{split.name}: the truth at the left; at the right what was detected with a score of "
        f"{MIN_SCORE:g} or more."
    )
