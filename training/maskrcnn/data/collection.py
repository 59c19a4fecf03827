"""The splits of one run, checked against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.coco import Split, read_split
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.repeats import repeat_factors
from training.maskrcnn.hyperparameters import Hyperparameters

SHOWN_PROBLEMS = 5


@dataclass(frozen=True)
class Collection:
    """What is trained on and what is evaluated."""

    train: Records
    val: tuple[Split, ...]
    categories: Mapping[int, str]
    """Category id to name, by rising id; label 1 is the first."""
    notes: tuple[str, ...]
    """What the user should know: annotations and pictures left out."""


def read_collection(channel: TrainChannel, hyperparameters: Hyperparameters) -> Collection:
    """Read the splits of `data_train` and `data_val`.

    Raises:
        JobFailed: A split cannot be read, has other categories than the first, has bad
            annotations that `bad_annotations` does not allow, or nothing is left to train on.
    """
    names = dict.fromkeys((*hyperparameters.data_train, *hyperparameters.data_val))
    splits = {name: read_split(channel, name) for name in names}
    train_splits = [splits[name] for name in hyperparameters.data_train]
    for split in splits.values():
        _check_categories(split, train_splits[0])
    notes = _check_annotations(splits.values(), stop=hyperparameters.bad_annotations == "stop")
    everything = Records.joined([split.records for split in train_splits])
    train = everything if hyperparameters.empty_pictures == "train" else everything.with_objects()
    if len(train) < len(everything):
        notes.append(f"{len(everything) - len(train)} training pictures without objects left out")
    if not train:
        raise JobFailed(
            f"{channel.root}: no picture to train on in {', '.join(hyperparameters.data_train)}: "
            f"{len(everything)} pictures, none of them with a usable object"
        )
    if hyperparameters.repeat_threshold is not None:
        notes.append(_describe_repeats(train, hyperparameters.repeat_threshold))
    val = tuple(splits[name] for name in hyperparameters.data_val)
    return Collection(train, val, train_splits[0].categories, tuple(notes))


def _describe_repeats(records: Records, threshold: float) -> str:
    factors = repeat_factors(records, threshold)
    return (
        f"repeat_threshold {threshold:g}: {int((factors > 1).sum())} pictures of rare categories "
        f"come more than once, so that a pass over the data has {int(factors.sum())} pictures "
        f"instead of {len(records)}"
    )


def _check_categories(split: Split, first: Split) -> None:
    if split.categories == first.categories:
        return
    different = dict(split.categories.items() ^ first.categories.items())
    shown = ", ".join(f"{key} {name}" for key, name in sorted(different.items())[:SHOWN_PROBLEMS])
    raise JobFailed(
        f"splits {first.name} and {split.name} have different categories ({shown}); "
        "all splits of a run share one list"
    )


def _check_annotations(splits: Iterable[Split], *, stop: bool) -> list[str]:
    notes = []
    for split in splits:
        if not split.skipped:
            continue
        shown = "; ".join(split.skipped[:SHOWN_PROBLEMS])
        message = f"{split.name}: {len(split.skipped)} annotations cannot be used: {shown}"
        if stop:
            raise JobFailed(f"{message} (bad_annotations: skip would leave them out)")
        notes.append(message)
    return notes
