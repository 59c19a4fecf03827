"""Has what a copy writes reach the disks while more is still coming.

The system itself begins only after half a minute, or when a tenth of the memory is full of it
(`vm.dirty_expire_centisecs`, `vm.dirty_background_ratio`): a copy of 2 GB would be done in less,
and then wait for all of it at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from training.data.folder import Folder
from training.errors import TrainingError

EVERY_S = 1.0


@contextmanager
def flushed(folder: Folder) -> Iterator[None]:
    """Write to the disks again and again while the block runs; what is left then is little.

    What goes wrong is left to the `sync` that follows.
    """
    over = threading.Event()

    def flush() -> None:
        while not over.wait(EVERY_S):
            # The folder comes with the first file.
            with suppress(TrainingError, OSError):
                folder.sync()

    thread = threading.Thread(target=flush, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
