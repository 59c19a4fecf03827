"""/opt/ml/output/failure: why a job failed, for DescribeTrainingJob."""

import os
from typing import List

from .say import say

MOST_BYTES = 1024
"""SageMaker shows the first 1,024 characters
(https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-output.html); as
bytes, so that it holds however they are counted."""


def failure_text(reason: str, whose: str, last_lines: List[str]) -> str:
    """Return the reason and as many of the last lines as there is room for.

    Args:
        reason: What went wrong.
        whose: Whose lines they are, for example `rank 3`.
        last_lines: Oldest first; the newest say most.
    """
    text = _cut(reason, MOST_BYTES)
    head = f"\nLast lines of {whose}:"
    room = MOST_BYTES - _size(text) - _size(head)
    kept: List[str] = []
    for line in reversed(last_lines):
        piece = _cut(line, MOST_BYTES // 3)
        if _size(piece) + 1 > room:
            break
        room -= _size(piece) + 1
        kept.insert(0, piece)
    return "\n".join([text + head, *kept]) if kept else text


def write_failure(path: str, text: str) -> None:
    """Write the file; where that fails, say so: the job has a failure of its own to tell."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(_cut(text, MOST_BYTES).encode("utf-8", "replace"))
    except OSError as error:
        say(f"{path}: cannot be written ({error.strerror})")


def _cut(text: str, most_bytes: int) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= most_bytes:
        return text
    return data[: most_bytes - 4].decode("utf-8", "ignore") + " …"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
