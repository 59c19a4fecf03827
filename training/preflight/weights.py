"""The weights that a job begins with are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from training.layout import TrainChannel
from training.preflight.finding import Finding


def find(train: TrainChannel, files: Mapping[str, str]) -> Iterator[Finding]:
    """Yield an error for each file of weights that is not there.

    Args:
        train: The channel, whose `pretrained-models` are looked at first.
        files: Name of the hyperparameter to the file that it names.
    """
    for name, file in files.items():
        candidates = train.weight_candidates(file)
        if not any(path.is_file() for path in candidates):
            yield Finding(
                "weights-missing",
                "error",
                f"hyperparameters.{name}: {file}: no such file; looked at "
                f"{' and '.join(map(str, candidates))}. Fetch it into the folder of the set, and "
                "stage that again: python -m training.data download DIR --what pretrained",
                f"hyperparameters.{name}",
            )
