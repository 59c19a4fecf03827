"""What `check` finds where a split's pictures lie in shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from training.data.pack.index import ShardIndex
from training.errors import JobFailed
from training.preflight.finding import Finding

_SHOWN = 3


def examine_shards(folder: Path, image_ids: Sequence[int]) -> Iterator[Finding]:
    """Yield what would stop a training that reads these shards; the pictures are not read.

    Args:
        folder: Of the shards.
        image_ids: Those that the annotations name.
    """
    try:
        index = ShardIndex.open(folder)
        damaged = index.missing_shards()
    except (JobFailed, OSError) as error:
        yield _error("shards-unreadable", folder, str(error))
        return
    if damaged:
        yield _error(
            "shards-missing",
            folder,
            f"{len(damaged):,} of {len(index.shards):,} shards are missing or of another size than "
            f"the index says: {', '.join(path.name for path in damaged[:_SHOWN])}. Copy them again",
        )
    lost = np.setdiff1d(np.array(image_ids, np.int64), index.image_ids)
    if len(lost):
        shown = ", ".join(map(str, lost[:_SHOWN].tolist()))
        yield _error(
            "shards-lack-images",
            folder,
            f"no shard has {len(lost):,} of the {len(image_ids):,} pictures that the annotations "
            f"name, for example id {shown}. Remove the folder and pack again: "
            "python -m training.data pack",
        )


def _error(code: str, folder: Path, message: str) -> Finding:
    return Finding(code=code, severity="error", message=message, path=str(folder))
