"""What the ranks print: to their files as it is, to stdout line by line."""

import os
import threading
from collections import deque
from typing import BinaryIO, Callable, Deque, Dict, List

LAUNCHER = -1
"""Stands for what mpirun or torchrun print themselves, in place of a rank."""
LAST_LINES = 20
MOST_LINE_BYTES = 8 << 20
"""A line that is longer reaches stdout in pieces."""


class JobOutput:
    """Takes the output of all ranks; any thread may call it.

    Args:
        folder: For `rank-N.log` and `launcher.log`.
        world_size: How many ranks there are.
        stream: Rank 0's lines go there as they are, the others' with their rank before them.
        on_error: Told once that a file cannot be written, with the message.
    """

    def __init__(
        self, folder: str, world_size: int, stream: BinaryIO, on_error: Callable[[str], None]
    ) -> None:
        self._lock = threading.Lock()
        self._stream = stream
        self._on_error = on_error
        self._is_error_told = False
        # Each rank's file is there from the start: one that says nothing is seen to say nothing.
        self._paths = {LAUNCHER: os.path.join(folder, "launcher.log")}
        for rank in range(world_size):
            self._paths[rank] = os.path.join(folder, f"rank-{rank}.log")
        self._files = {rank: open(path, "ab", buffering=0) for rank, path in self._paths.items()}
        self._unfinished: Dict[int, List[bytes]] = {}
        self._last: Dict[int, Deque[bytes]] = {}

    def write(self, rank: int, data: bytes) -> None:
        """Take what a rank printed, however it was cut."""
        if rank not in self._files:
            return
        with self._lock:
            self._keep(rank, data)
            lines = self._lines(rank, data)
            self._last.setdefault(rank, deque(maxlen=LAST_LINES)).extend(lines)
            if rank != LAUNCHER:
                self._show(rank, lines)

    def last(self, rank: int) -> List[str]:
        """Return a rank's last lines."""
        with self._lock:
            lines = [*self._last.get(rank, ()), b"".join(self._unfinished.get(rank, ()))]
        # What a progress bar wrote over is gone for a person too.
        texts = (
            line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace") for line in lines
        )
        return [text.rstrip() for text in texts if text.strip()]

    def close(self) -> None:
        with self._lock:
            for rank in sorted(self._unfinished):
                if rank != LAUNCHER and any(self._unfinished[rank]):
                    self._show(rank, [b"".join(self._unfinished[rank])])
            self._unfinished.clear()
            for file in self._files.values():
                file.close()
            self._files.clear()

    def _keep(self, rank: int, data: bytes) -> None:
        try:
            self._files[rank].write(data)
        except OSError as error:
            if not self._is_error_told:
                self._is_error_told = True
                self._on_error(f"{self._paths[rank]}: cannot be written ({error.strerror})")

    def _lines(self, rank: int, data: bytes) -> List[bytes]:
        """Return the lines that are whole now; keep what is not."""
        *whole, rest = data.split(b"\n")
        pieces = self._unfinished.setdefault(rank, [])
        if whole:
            whole[0] = b"".join(pieces) + whole[0]
            pieces.clear()
        if rest:
            pieces.append(rest)
        if sum(map(len, pieces)) > MOST_LINE_BYTES:
            whole.append(b"".join(pieces))
            pieces.clear()
        return whole

    def _show(self, rank: int, lines: List[bytes]) -> None:
        prefix = b"" if rank == 0 else f"[rank {rank}] ".encode("ascii")
        if not lines:
            return
        try:
            self._stream.write(b"".join(prefix + line + b"\n" for line in lines))
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads any more; the files have it all.
            return
