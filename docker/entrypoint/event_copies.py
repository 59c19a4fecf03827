"""A copy of TensorBoard's event files where SageMaker looks for them.

The folder of TensorBoardOutputConfig is uploaded while a job runs. It has a volume of its own, so
that it cannot be the log folder.
"""

import glob
import os
import shutil
import threading
from typing import Dict, Optional, Tuple

from .say import say

VARIABLE = "MASK_RCNN_TENSORBOARD"
EVERY_S = 60


class EventCopies:
    """Copies again and again what has grown; a copy that fails never fails the job.

    Args:
        log: The log folder.
        target: Where the copies go, under the same names; None: nowhere.
        every_s: Seconds between copies.
    """

    def __init__(self, log: str, target: Optional[str], every_s: float = EVERY_S) -> None:
        self._log = log
        self._target = target
        self._every_s = every_s
        self._copied: Dict[str, Tuple[int, int]] = {}
        self._is_error_told = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        if target is not None:
            self._thread.start()

    def finish(self) -> None:
        """Copy a last time, and stop."""
        self._ended.set()
        if self._target is not None:
            self._thread.join()
            self._copy(self._target)

    def _run(self) -> None:
        while self._target is not None and not self._ended.wait(self._every_s):
            self._copy(self._target)

    def _copy(self, target: str) -> None:
        pattern = os.path.join(glob.escape(self._log), "**", "events.out.tfevents.*")
        try:
            for path in glob.glob(pattern, recursive=True):
                self._copy_one(path, os.path.join(target, os.path.relpath(path, self._log)))
        except OSError as error:
            if not self._is_error_told:
                self._is_error_told = True
                say(f"{VARIABLE}: {target}: events are not copied ({error.strerror})")

    def _copy_one(self, source: str, target: str) -> None:
        status = os.stat(source)
        state = (status.st_size, status.st_mtime_ns)
        if self._copied.get(source) == state:
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        self._copied[source] = state
