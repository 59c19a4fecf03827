"""A number that an algorithm prints while it trains."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How to find it in the lines of a job."""

    name: str
    regex: str
    """Its first group is the number."""


def metric(name: str, *, after: str = "", space: str = r"\s*") -> Metric:
    """Return the metric of lines `name: value`, with whatever stands before or behind.

    Args:
        after: Text that stands right before the name, where another name ends in this one.
        space: What is between colon and value: `\\s+` where another name begins with this one
            and its colon.
    """
    # A space needs no escape, and not every engine takes one.
    escaped = re.escape(after + name).replace(r"\ ", " ")
    return Metric(name, rf".*{escaped}:{space}(\S+).*")
