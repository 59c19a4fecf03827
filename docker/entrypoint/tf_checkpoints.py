"""TensorFlow's checkpoints in the log folder: which attempt wrote which, and the newest.

TensorPack deletes the folder that it is given when it begins, so that each start of a job has a
folder of its own: `checkpoints/attempt-1`, `attempt-2` and so on.
"""

import glob
import os
import re
from typing import List, NamedTuple, Optional

_ATTEMPT = re.compile(r"attempt-([0-9]+)")
_CHECKPOINT = re.compile(r"(?P<prefix>.+-(?P<step>[0-9]+))\.index")
_SHARD = re.compile(r"\.data-[0-9]{5}-of-(?P<shards>[0-9]{5})")


class Checkpoint(NamedTuple):
    """What TensorFlow's Saver wrote after a step."""

    prefix: str
    """Path without `.index` and `.data-...`, which is what TensorFlow calls it by."""
    step: int
    files: List[str]


def next_attempt(log: str) -> str:
    """Return the folder for a start that begins now; the same until somebody makes it."""
    return _folder(log, 1 + max(_attempts(log), default=0))


def last_attempt(log: str) -> Optional[str]:
    """Return the folder of the last start, None where there was none."""
    attempts = _attempts(log)
    return _folder(log, max(attempts)) if attempts else None


def newest(log: str) -> Optional[Checkpoint]:
    """Return the whole checkpoint with the highest step of all attempts."""
    folders = [_folder(log, number) for number in _attempts(log)]
    # Of the same step the later attempt's: `max` takes the first of equals.
    found = [newest_in(folder) for folder in reversed(folders)]
    return max(filter(None, found), key=_step, default=None)


def newest_in(folder: str) -> Optional[Checkpoint]:
    """Return the whole checkpoint with the highest step in a folder."""
    return max(_checkpoints_in(folder), key=_step, default=None)


def _checkpoints_in(folder: str) -> List[Checkpoint]:
    """Return the checkpoints of a folder that have all their files.

    TensorFlow writes `.index` last, but what copies a folder may bring it first.
    """
    found = []
    for index in sorted(glob.glob(os.path.join(glob.escape(folder), "*.index"))):
        match = _CHECKPOINT.fullmatch(os.path.basename(index))
        if match is None:
            continue
        prefix = os.path.join(folder, match.group("prefix"))
        shards = sorted(glob.glob(glob.escape(prefix) + ".data-*"))
        if _is_whole(prefix, shards):
            found.append(Checkpoint(prefix, int(match.group("step")), [index, *shards]))
    return found


def _step(checkpoint: Checkpoint) -> int:
    return checkpoint.step


def _is_whole(prefix: str, shards: List[str]) -> bool:
    matches = [_SHARD.fullmatch(shard[len(prefix) :]) for shard in shards]
    counts = {int(match.group("shards")) for match in matches if match is not None}
    return counts == {len(shards)}


def _attempts(log: str) -> List[int]:
    try:
        names = os.listdir(os.path.join(log, "checkpoints"))
    except OSError:
        return []
    matches = [_ATTEMPT.fullmatch(name) for name in names]
    return sorted(int(match.group(1)) for match in matches if match is not None)


def _folder(log: str, attempt: int) -> str:
    return os.path.join(log, "checkpoints", f"attempt-{attempt}")
