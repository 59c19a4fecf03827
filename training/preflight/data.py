"""Check the data that a job is about to train on, where its folder is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.data.check import BadAnnotations, check_dataset
from training.layout import TrainChannel
from training.preflight.finding import Finding


def find(
    train: TrainChannel, splits: Sequence[str], bad_annotations: BadAnnotations
) -> Iterator[Finding]:
    """Yield what is wrong with the `train` channel.

    Args:
        train: The channel as this machine sees it.
        splits: The job's `data_train` and `data_val`.
        bad_annotations: The job's hyperparameter of that name.
    """
    if not _is_folder(train.root):
        yield Finding(
            code="data-channel-missing",
            severity="error",
            message=(
                f"there is no folder of training data at {train.root}. Stage a set there with "
                "python -m training.data stage, or make one with python -m training.data shapes"
            ),
            path=str(train.root),
        )
        return
    yield from check_dataset(train, list(dict.fromkeys(splits)), bad_annotations=bad_annotations)


def _is_folder(path: Path) -> bool:
    """Return whether this user can see a folder there."""
    try:
        return path.is_dir()
    except OSError:
        return False
