"""Sends the set-up's log to CloudWatch Logs: python3 -m node.setup_log FILE STREAM."""

from __future__ import annotations

import calendar
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import json_file, paths
from .aws_cli import AwsError, aws
from .config import load
from .errors import NodeError

MOST_LINES = 2000
LONGEST_LINE_BYTES = 4096
MOST_BYTES = 900_000
"""Of one call, in which each event counts 26 bytes more; AWS takes 1,048,576.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html"""
_EVENT_BYTES = 26

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z ")


def events(lines: Iterable[str], *, now: float) -> list[dict[str, Any]]:
    """Return the last lines as log events, oldest first.

    A line without a moment of its own has that of the line before it.
    """
    found: list[dict[str, Any]] = []
    moment = None
    for line in lines:
        text = line.rstrip("\n")
        moment = _moment(text) or moment
        if text:
            message = text.encode()[:LONGEST_LINE_BYTES].decode("utf-8", "ignore")
            found.append({"timestamp": int(1000 * (moment or now)), "message": message})
    kept: list[dict[str, Any]] = []
    size = 0
    for event in reversed(found[-MOST_LINES:]):
        size += len(event["message"].encode()) + _EVENT_BYTES
        if size > MOST_BYTES:
            break
        kept.append(event)
    # AWS wants them in order, and a clock may have been set back meanwhile.
    kept.reverse()
    return sorted(kept, key=lambda event: event["timestamp"])


def _moment(line: str) -> float | None:
    match = _MOMENT.match(line)
    if not match:
        return None
    try:
        return calendar.timegm(time.strptime(match[1], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None


def send(file: Path, *, group: str, stream: str, region: str) -> None:
    """Send what the file ends with.

    Raises:
        AwsError: The log group cannot be written.
    """
    names = ("--log-group-name", group, "--log-stream-name", stream)
    with file.open(encoding="utf-8", errors="replace") as lines:
        batch = events(lines, now=time.time())
    if not batch:
        return
    try:
        aws("logs", "create-log-stream", *names, region=region)
    except AwsError as error:
        if error.code != "ResourceAlreadyExistsException":
            raise
    paths.RUN.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.RUN) as folder:
        content = Path(folder) / "events.json"
        json_file.write(content, batch)
        aws("logs", "put-log-events", *names, "--log-events", f"file://{content}", region=region)


def main(arguments: list[str]) -> int:
    file, stream = arguments
    try:
        config = load()
        send(Path(file), group=config.log_group, stream=stream, region=config.region)
    except (NodeError, OSError) as error:
        sys.stderr.write(f"the log could not be sent to CloudWatch: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
