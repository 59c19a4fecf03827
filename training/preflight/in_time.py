"""Waits for an answer so long and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def in_time(question: Callable[[], Answer], *, time_limit_s: float, late: Exception) -> Answer:
    """Return a question's answer.

    The timeouts of a client bound each try to connect and each pause in an answer, and neither the
    look-up of a name nor all of it together.

    Args:
        question: Asked in a thread of its own, which nobody waits for when the time is over.
        time_limit_s: For all of it.
        late: What to raise where no answer came in time.

    Raises:
        Exception: `late`, or what the question raised.
    """
    answers: list[Answer] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(question())
        except Exception as error:
            errors.append(error)

    # A daemon: a request that hangs must not keep the command from ending.
    thread = threading.Thread(target=ask, name="in_time", daemon=True)
    thread.start()
    thread.join(time_limit_s)
    for error in errors:
        raise error
    if not answers:
        raise late
    return answers[0]
