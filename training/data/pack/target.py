"""Where the shards of a split go, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from training.layout import TrainChannel


class Kind(StrEnum):
    """A format of shards."""

    WEBDATASET = "webdataset"
    TFRECORD = "tfrecord"


@dataclass(frozen=True)
class Target:
    """The place of one split's shards."""

    out: Path
    split: str
    kind: Kind

    @property
    def folder(self) -> Path:
        """Of the shards: where training looks for them, and the TF2 implementation."""
        if self.kind is Kind.WEBDATASET:
            return TrainChannel(self.out).shards(self.split)
        return self.out

    @property
    def index(self) -> Path:
        """Of the index; TFRecords of several splits are in one folder."""
        if self.kind is Kind.WEBDATASET:
            return self.folder
        return self.out / "index" / self.split

    @property
    def annotations(self) -> Path:
        return TrainChannel(self.out).annotations(self.split)

    def names(self, shards: int) -> list[str]:
        """Return the shards' names: `train2017-00007.tar`, `train2017-00007-of-00076.tfrecord`.

        The TF2 implementation takes what is called `train*.tfrecord` and `val*.tfrecord`.
        """
        if self.kind is Kind.WEBDATASET:
            return [f"{self.split}-{number:05d}.tar" for number in range(shards)]
        return [f"{self.split}-{number:05d}-of-{shards:05d}.tfrecord" for number in range(shards)]
