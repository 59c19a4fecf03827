"""Copies output.log to CloudWatch Logs, in batches, for those who cannot reach the head."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from node import json_file
from node.aws_cli import AwsError, aws

from .state import read_object

EVERY_S = 5
MOST_BYTES = 900_000
"""Of a batch: 1,048,576 with 26 for each event
(https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html)."""
MOST_EVENTS = 5_000
"""Of a batch: 10,000."""
MOST_EVENT_BYTES = 200_000
_EVENT_BYTES = 26


class Shipping:
    """Sends what is new every few seconds, and goes on where it was after a restart.

    Args:
        source: The file.
        mark: Where it keeps how much was sent.
        group: The log group.
        stream: The log stream; it is made.
        region: Where they are.
        say: Told once that it does not work; the job goes on.
    """

    def __init__(
        self,
        *,
        source: Path,
        mark: Path,
        group: str,
        stream: str,
        region: str,
        say: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self._source = source
        self._mark = mark
        self._group, self._stream, self._region = group, stream, region
        self._say = say
        self._every_s = every_s
        self._is_made = False
        self._is_error_told = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self, timeout_s: float = 30) -> None:
        """Send the rest, and stop."""
        self._ended.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self._send_all()
        self._send_all()

    def _send_all(self) -> None:
        try:
            while self._send_batch():
                pass
        except (AwsError, OSError) as error:
            if not self._is_error_told:
                self._is_error_told = True
                self._say(f"the log does not reach CloudWatch: {error}")

    def _send_batch(self) -> bool:
        """Send what fits into a request; False where there was nothing."""
        offset = read_object(self._mark).get("offset", 0)
        events, size = batch(self._source, offset, now_ms=int(time.time() * 1000))
        if not size:
            return False
        if events:
            self._make_stream()
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                json.dump(events, file)
                file.flush()
                self._aws("put-log-events", "--log-events", f"file://{file.name}")
        json_file.write(self._mark, {"offset": offset + size})
        return True

    def _make_stream(self) -> None:
        if self._is_made:
            return
        try:
            self._aws("create-log-stream")
        except AwsError as error:
            if error.code != "ResourceAlreadyExistsException":
                raise
        self._is_made = True

    def _aws(self, action: str, *arguments: str) -> None:
        aws(
            *("logs", action, "--log-group-name", self._group),
            *("--log-stream-name", self._stream, *arguments),
            region=self._region,
            timeout_s=30,
        )


def batch(source: Path, offset: int, *, now_ms: int) -> tuple[list[dict[str, Any]], int]:
    """Return the events of the next request, and how many bytes of the file they are.

    A line that is not whole yet waits; one that is too long is cut into several events.
    """
    try:
        with source.open("rb") as file:
            file.seek(offset)
            data = file.read(MOST_BYTES // 2)
    except OSError:
        return [], 0
    end = data.rfind(b"\n") + 1
    if not end and len(data) == MOST_BYTES // 2:
        end = len(data)
    events: list[dict[str, Any]] = []
    used = taken = 0
    for line in data[:end].splitlines(keepends=True):
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        pieces = _pieces(text)
        size = sum(len(piece.encode()) + _EVENT_BYTES for piece in pieces)
        if events and (used + size > MOST_BYTES or len(events) + len(pieces) > MOST_EVENTS):
            break
        # An event without a text is refused.
        events += [{"timestamp": now_ms, "message": piece} for piece in pieces if piece.strip()]
        used += size
        taken += len(line)
    return events, taken


def _pieces(text: str) -> list[str]:
    # At most four bytes a character.
    size = MOST_EVENT_BYTES // 4
    return [text[begin : begin + size] for begin in range(0, len(text), size)] or [""]
