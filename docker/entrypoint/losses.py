"""Whether a job that has lost workers is started again for free: without ending the launcher's pod.

Losing a host is no failure of the job. But a container that ended by itself, and came back in the
same pod, is one, and so are three starts in a row without a new checkpoint (as on platform ec2,
node/conductor/verdict.py).
"""

import fnmatch
import os
from typing import Dict, Mapping, Sequence

from .errors import DONE, Ending

MOST_IDLE_STARTS = 3


class Losses:
    """Args:
    log: The job's log folder.
    checkpoints: Patterns of names there.
    """

    def __init__(self, log: str, checkpoints: Sequence[str]) -> None:
        self._log = log
        self._checkpoints = checkpoints
        self._newest = newest_checkpoint(log, checkpoints)
        self._idle = 0
        self.pods: Dict[str, str] = {}
        """Pods that were lost, by the name of their host: they are not let in again."""

    def is_next_free(self, ending: Ending, lost: Mapping[str, str], *, is_stopped: bool) -> bool:
        """Judge an attempt; once for each.

        Args:
            ending: How it ended.
            lost: Pods that were lost in it, by the name of their host.
            is_stopped: Whether the launcher itself was asked to stop.
        """
        if ending.code == DONE or is_stopped or not lost or not all(lost.values()):
            return False
        newest = newest_checkpoint(self._log, self._checkpoints)
        self._idle = 0 if newest > self._newest else self._idle + 1
        self._newest = newest
        self.pods.update(lost)
        return self._idle < MOST_IDLE_STARTS


def newest_checkpoint(log: str, patterns: Sequence[str]) -> int:
    """Return when the newest checkpoint was written, in nanoseconds; 0: there is none."""
    newest = 0
    try:
        names = os.listdir(log)
        for name in names:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                newest = max(newest, _written(os.path.join(log, name)))
    except OSError:
        # What vanishes meanwhile is no new checkpoint.
        pass
    return newest


def _written(path: str) -> int:
    inside = os.listdir(path) if os.path.isdir(path) else []
    paths = [os.path.join(path, name) for name in inside] or [path]
    return max(os.stat(each).st_mtime_ns for each in paths)
