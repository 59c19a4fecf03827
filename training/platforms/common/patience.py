"""Repeats requests that got no good answer, with growing pauses, and says so once.

boto3's own repetition is not used: it says nothing, and would send CreateTrainingJob a second time
where the first answer was lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from training.aws.clients import Clients
from training.aws.errors import AwsRefused, may_pass
from training.errors import AwsError

T = TypeVar("T")

READ_TIMEOUT_S = 60.0

LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True)
class Timer:
    """What tells the time and waits; tests have their own."""

    now: Callable[[], float] = time.time
    """Seconds since 1970."""
    sleep: Callable[[float], None] = time.sleep


def connect() -> Clients:
    """Return clients that send each request once, with the credentials that there are now.

    Raises:
        AwsError: There is no region, or no such profile.
    """
    from training.aws.client import new_session

    return Clients(new_session(), None, read_timeout_s=READ_TIMEOUT_S, attempts=1)


def pauses() -> Iterator[float]:
    """Yield seconds to wait before each further attempt: 1, 2, 4, … up to a minute."""
    pause_s = 1.0
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


class Patience:
    """Makes requests that only read, until they are answered."""

    def __init__(
        self,
        clients: Clients,
        *,
        reconnect: Callable[[], Clients],
        tell: Callable[[str], None],
        timer: Timer,
        attempts: int | None = None,
    ) -> None:
        """Make it.

        Args:
            clients: Used at first.
            reconnect: Makes others, where credentials have expired: somebody may have logged in
                again meanwhile, in another terminal.
            tell: Takes a line for the user.
            timer: Waits.
            attempts: Of each request; None goes on for ever.
        """
        self._clients = clients
        self._reconnect = reconnect
        self._tell = tell
        self._timer = timer
        self._attempts = attempts

    def ask(self, request: Callable[[Clients], T], *, attempts: int | None = None) -> T:
        """Return the answer, if need be after further attempts.

        Args:
            request: Makes it.
            attempts: For this request, in place of those of all.

        Raises:
            AwsError: Trying again would not help: no permission, or the credentials are gone; or
                that was the last attempt.
        """
        attempts = attempts or self._attempts
        waits = islice(pauses(), None if attempts is None else attempts - 1)
        told = renewed = False
        while True:
            try:
                answer = request(self._clients)
            except AwsError as error:
                if _is_about_credentials(error) and not renewed:
                    self._clients, renewed = self._reconnect(), True
                    continue
                pause_s = next(waits, None) if may_pass(error) else None
                if pause_s is None:
                    raise
                if not told:
                    self._tell(f"no good answer, trying again: {error}")
                    told = True
                self._timer.sleep(pause_s)
            else:
                if told:
                    self._tell("there is an answer again")
                return answer


def _is_about_credentials(error: AwsError) -> bool:
    return isinstance(error, AwsRefused) and error.is_about_credentials
