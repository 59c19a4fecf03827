"""Takes horovodrun's output apart: it tags each line with its rank, `[1]<stdout>:text`."""

import re
from typing import Callable

from .output import LAUNCHER

_TAG = re.compile(rb"\[(\d{1,6})\]<std(?:out|err)>:")


class TaggedOutput:
    """Passes on lines by rank, as they get whole.

    Args:
        write: Takes a rank, LAUNCHER for horovodrun itself, and its line.
    """

    def __init__(self, write: Callable[[int, bytes], None]) -> None:
        self._write = write
        self._rest = b""

    def take(self, _rank: int, data: bytes) -> None:
        """Take a piece, however it was cut."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._pass_on(line)

    def close(self) -> None:
        if self._rest:
            self._pass_on(self._rest)
        self._rest = b""

    def _pass_on(self, line: bytes) -> None:
        # What a rank wrote over with a carriage return is tagged again: the last piece counts.
        tags = list(_TAG.finditer(line))
        if not tags:
            self._write(LAUNCHER, line + b"\n")
            return
        self._write(int(tags[-1].group(1)), line[tags[-1].end() :] + b"\n")
