"""The training data that a job reads: whether its files are where the job looks for them.

Names alone are looked at. `python -m training.data check` reads the files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.s3 import S3
from training.data.manifest import MANIFEST
from training.layout import SHARD_INDEX, TRAIN_PATH, TrainChannel
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import S3Place

KEY = "channels.train"

_CODES: Mapping[str, Severity] = {
    "data-missing": "error",
    "data-annotations-missing": "error",
    "data-pictures-missing": "error",
    "data-records-missing": "error",
    "data-manifest-missing": "warning",
    "weights-missing": "error",
}

_CHANNEL = TrainChannel(Path())


@dataclass(frozen=True)
class _Data(Check):
    """A channel in COCO's layout, wherever it is."""

    splits: Sequence[str]
    """The last one is evaluated."""
    weight_files: Mapping[str, str]
    """Name of the hyperparameter to the file that it names."""
    are_records: bool
    """Whether pictures are read from TFRecords at the top, and annotations for evaluation alone."""
    source: str
    """As `data_source` and `stage --to` name it."""
    path: str
    """`channels.train`."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the channel is, for messages."""

    @property
    def remedy(self) -> str:
        """How a set gets there, as a sentence without its full stop."""
        # File systems are filled from S3 where nothing else is named.
        return f"Copy a set there: {self._stage('DIR' if self.source == 's3' else '')}"

    def _stage(self, folder: str) -> str:
        place = "" if self.path == TRAIN_PATH else f"--path {self.path}"
        words = ("python -m training.data stage", folder, f"--to {self.source}", place)
        return " ".join(filter(None, words))

    @abstractmethod
    def has_file(self, path: Path) -> bool:
        """Return whether the channel has a file."""

    @abstractmethod
    def has_files_below(self, folder: Path) -> bool:
        """Return whether the channel has a file in a folder."""

    @abstractmethod
    def has_records(self, split: str) -> bool:
        """Return whether the channel has a file `<split>-….tfrecord`."""

    def find(self) -> Iterator[Finding]:
        if not self.has_files_below(Path()):
            message = f"there is no data at {self.place}. {self.remedy}"
            yield self.found("data-missing", KEY, message)
            return
        for split in self.splits:
            yield from self._judge_split(split)
        yield from self._judge_weights()
        # It is written last, so that its absence tells of a copy that was broken off.
        if not self.has_file(Path(MANIFEST)):
            yield self.found(
                "data-manifest-missing",
                KEY,
                f"{self.place} has no {MANIFEST}, which stage writes last: the copy may have been "
                f"broken off. {self.remedy}; what is there already is not copied again",
            )

    def _judge_split(self, split: str) -> Iterator[Finding]:
        annotations = _CHANNEL.annotations(split)
        is_read = not self.are_records or split == self.splits[-1]
        if is_read and not self.has_file(annotations):
            yield self.found(
                "data-annotations-missing",
                KEY,
                f"{self.place}/{annotations.as_posix()} is not there, the annotations of split "
                f"{split}. {self.remedy}, or choose other splits with the hyperparameters",
            )
        if self.are_records:
            yield from self._judge_records(split)
        else:
            yield from self._judge_pictures(split)

    def _judge_pictures(self, split: str) -> Iterator[Finding]:
        pictures = _CHANNEL.images(split)
        is_packed = self.has_file(_CHANNEL.shards(split) / SHARD_INDEX)
        if not is_packed and not self.has_files_below(pictures):
            yield self.found(
                "data-pictures-missing",
                KEY,
                f"{self.place}/{pictures.as_posix()} has no pictures, of split {split}, and there "
                f"are no shards of it. {self.remedy}",
            )

    def _judge_records(self, split: str) -> Iterator[Finding]:
        if not self.has_records(split):
            yield self.found(
                "data-records-missing",
                KEY,
                f"{self.place}/{split}-*.tfrecord is not there: the algorithm reads TFRecords. "
                "Make them, and copy them there: python -m training.data pack DIR OUT --as "
                f"tfrecord, then {self._stage('OUT')}",
            )

    def _judge_weights(self) -> Iterator[Finding]:
        for name, file in self.weight_files.items():
            path = _CHANNEL.pretrained_models / file
            # Of a whole path, another check says what there is to say.
            if not PurePosixPath(file).is_absolute() and not self.has_file(path):
                yield self.found(
                    "weights-missing",
                    f"hyperparameters.{name}",
                    f"hyperparameters.{name}: {file}: {self.place}/{path.as_posix()} is not there. "
                    "Fetch it into the folder of the set, and copy that there: "
                    "python -m training.data download DIR --what pretrained, then "
                    f"{self._stage('DIR')}; or name another file of pretrained-models",
                )


@dataclass(frozen=True)
class DataIsOnS3(_Data):
    """Each split has annotations and pictures on S3, the weights too, and the copy was whole."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:ListBucket",)

    s3: S3
    train: S3Place

    @property
    def place(self) -> str:
        return str(self.train)

    def find(self) -> Iterator[Finding]:
        try:
            yield from super().find()
        except AwsRefused as error:
            if error.code != "NoSuchBucket":  # Another check says so.
                raise

    def has_file(self, path: Path) -> bool:
        return self.s3.has_object(self.train.bucket, f"{self.train.key}/{path.as_posix()}")

    def has_files_below(self, folder: Path) -> bool:
        below = "" if folder == Path() else f"{folder.as_posix()}/"
        return self.s3.has_objects(self.train.bucket, f"{self.train.key}/{below}")

    def has_records(self, split: str) -> bool:
        return self.s3.has_objects(self.train.bucket, f"{self.train.key}/{split}-")


@dataclass(frozen=True)
class DataIsMounted(_Data):
    """The same where the file system of the channel is mounted on this machine."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ()

    train: Path

    @property
    def place(self) -> str:
        return str(self.train)

    def has_file(self, path: Path) -> bool:
        try:
            return (self.train / path).is_file()
        except OSError:
            return False

    def has_files_below(self, folder: Path) -> bool:
        try:
            return any((self.train / folder).iterdir())
        except OSError:
            return False

    def has_records(self, split: str) -> bool:
        return any(self.train.glob(f"{split}-*.tfrecord"))


@dataclass(frozen=True)
class WeightsAreInTheChannel(Check):
    """Files of weights are named as the containers see them."""

    codes: ClassVar[Mapping[str, Severity]] = {"weights-outside-containers": "error"}
    actions: ClassVar[tuple[str, ...]] = ()

    weight_files: Mapping[str, str]

    def find(self) -> Iterator[Finding]:
        for name, file in self.weight_files.items():
            path = PurePosixPath(file)
            if path.is_absolute() and not path.is_relative_to("/opt/ml"):
                yield self.found(
                    "weights-outside-containers",
                    f"hyperparameters.{name}",
                    f"hyperparameters.{name}: {file}: the containers of the job have no such file. "
                    "Copy it to the train channel's pretrained-models and give its name there",
                )
