"""Waiting for what comes by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

PATIENCE_S = 120.0
"""Longer than anything takes: a machine that is busy with other things makes no test fail."""

T = TypeVar("T")


def wait_for(look: Callable[[], T | None], what: str, patience_s: float = PATIENCE_S) -> T:
    """Look until there is something, and return it."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    pytest.fail(f"{what}: not within {patience_s:.0f} s")
