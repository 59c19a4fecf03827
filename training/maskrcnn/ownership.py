"""One training at a time in a log channel: two would delete each other's checkpoints."""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import dataclass, field

from training.errors import UsageError
from training.layout import LogChannel
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.together import on_rank_0

_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}
"""What a file system answers that has no locks, such as Lustre mounted without `flock`."""


class InUseError(UsageError):
    """Another training holds the log channel: nothing in it may be touched."""


@dataclass
class Ownership:
    """Held by the process that is rank 0, until it ends, however it ends.

    The lock is of fcntl(2), which the processes that a rank forks do not inherit: none of them can
    hold the channel after its rank.
    """

    log: LogChannel
    _file: int | None = field(default=None, init=False)

    def take(self, engine: Engine, *, goes_on: bool) -> None:
        """Hold the channel on rank 0; called by all ranks alike.

        Args:
            goes_on: The ranks have met again. They hold the channel already, and a host that is
                gone may not have let go of it yet, so that they are not refused.

        Raises:
            InUseError: Another training holds it; raised on all ranks.
            JobFailed: The lock's file cannot be made; raised on all ranks.
        """
        if engine.rank != 0:
            self._release()
        # Rank 0 waits here until whoever was it before has let go.
        engine.gather(None)
        is_taken = on_rank_0(engine, self._try)
        if not is_taken and not goes_on:
            raise InUseError(f"{self.log.root} is in use: the job in it is still running")

    def _try(self) -> bool:
        if self._file is not None:
            return True
        file = os.open(self.log.trainer_lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(file)
                if error.errno in {errno.EAGAIN, errno.EACCES}:
                    return False
                raise
        self._file = file
        return True

    def _release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
