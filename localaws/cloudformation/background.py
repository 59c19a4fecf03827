"""Where a stack operation runs: in its request, or beside it.

An operation that waits for instances takes minutes, and clients give up on an answer after one.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable

from localaws import instance_signals
from localaws.cloudformation.signals import SIGNALS

_running: list[threading.Thread] = []


def carry_out(work: Callable[[], None], failed: Callable[[Exception], None]) -> None:
    """Do something now, or in a thread of its own where it may have to wait for instances.

    Args:
        work: What.
        failed: Takes an error that came out of it in a thread.
    """
    if not instance_signals.expected():
        work()
        return

    def run() -> None:
        try:
            work()
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            failed(error)

    thread = threading.Thread(target=run, daemon=True)
    _running[:] = [each for each in _running if each.is_alive()]
    _running.append(thread)
    thread.start()


def stop(patience_s: float) -> None:
    """End what waits for instances, and wait until all operations are done."""
    SIGNALS.stop()
    for thread in _running:
        thread.join(patience_s)
