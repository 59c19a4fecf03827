"""Fill a partial file from one address, with several connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from training.data.download.catalogue import Item
from training.data.download.origin import Origin
from training.data.download.partial import Partial
from training.data.download.patience import Patience
from training.data.download.ranges import Range
from training.data.download.web import Answer, Changed, NoRanges, Transient, Unusable, Version, Web
from training.errors import TrainingError

SECONDS_TO_STOP = 2.0
"""Connections that are still waiting for a byte then are left to end by themselves."""


@dataclass(frozen=True)
class Source:
    """An address that answered."""

    address: str
    size: int
    version: Version
    has_ranges: bool

    def origin(self, item: Item) -> Origin:
        return Origin(
            size=self.size,
            address=self.address,
            validator=self.version.validator,
            sha256=item.sha256,
        )


def find_source(
    web: Web, address: str, item: Item, patience: Patience, note: Callable[[str], None]
) -> Source:
    """Ask an address for the first byte, and see whether its file is the one that is meant.

    Args:
        web: Sends the requests.
        address: Of the file.
        item: What is meant.
        patience: How often to ask.
        note: Told why it takes longer.

    Raises:
        Unusable: It is not, or there was no answer in time.
    """
    if address.startswith("http://") and item.sha256 is None:
        raise Unusable("plain http is refused, since no checksum of this file is known")
    source = _insist(
        lambda: _ask(web, address, item), patience, lambda why: note(f"{address}: {why}")
    )
    if not item.has_size(source.size):
        meant = f"{item.size:,}" if item.size else "{:,} to {:,}".format(*(item.size_between or ()))
        raise Unusable(f"its file has {source.size:,} bytes; {item.name} has {meant}")
    return source


def _ask(web: Web, address: str, item: Item) -> Source:
    try:
        with web.get(address, (0, 1), None) as answer:
            version, has_ranges = answer.version, True
    except NoRanges:
        with web.get(address, None, None) as answer:
            version, has_ranges = answer.version, False
    size = version.size if version.size is not None else item.size
    if size is None:
        raise Unusable("it does not say how long the file is")
    return Source(address, size, version, has_ranges)


def _insist(ask: Callable[[], Source], patience: Patience, note: Callable[[str], None]) -> Source:
    failures = 0
    while True:
        try:
            return ask()
        except Transient as error:
            failures += 1
            if failures >= patience.tries:
                raise Unusable(f"{error} ({failures} times)") from error
            if failures == 1:
                note(f"{error}; trying again")
            threading.Event().wait(patience.wait_s(failures, error.retry_after_s))


@contextmanager
def fetching(
    partial: Partial, source: Source, web: Web, patience: Patience, connections: int
) -> Iterator[None]:
    """Fetch what is wanted of the partial file while the block runs.

    Whoever reads the partial file gets Unusable where the address gives up, Changed where its file
    is another one now, and NoRanges where it stops sending parts.
    """
    round_ = partial.begin_round()
    crew = _Crew(partial, source, web, patience, round_)
    work = crew.fetch_parts if source.has_ranges else crew.fetch_whole
    threads = [
        # Not waited for at the end of the process: a silent server must not hold up Ctrl-C.
        threading.Thread(target=work, name=f"connection-{number}", daemon=True)
        for number in range(connections if source.has_ranges else 1)
    ]
    crew.left = len(threads)
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        partial.end_round()
        crew.over.set()
        for thread in threads:
            thread.join(SECONDS_TO_STOP / len(threads))
        partial.save()


class _Crew:
    """The connections to one address."""

    def __init__(
        self, partial: Partial, source: Source, web: Web, patience: Patience, round_: int
    ) -> None:
        self.over = threading.Event()
        self.left = 0
        """Connections that are still at it."""
        self._partial = partial
        self._source = source
        self._web = web
        self._patience = patience
        self._round = round_
        self._lock = threading.Lock()

    def fetch_parts(self) -> None:
        """Fetch one part after the other; what one connection runs."""
        with self._failing():
            failures = _Failures(self._patience, self._partial)
            while part := self._partial.take(self._round):
                try:
                    got, error = self._fetch(part, part)
                finally:
                    self._partial.give_back(self._round, part)
                failures.note(got, part[1] - part[0], error)
                if error is None:
                    continue
                if failures.are_too_many() and not self._is_dispensable(failures):
                    raise Unusable(f"{error} ({failures.in_a_row} times in a row)")
                if failures.are_too_many():
                    return
                self.over.wait(self._patience.wait_s(failures.in_a_row, error.retry_after_s))

    def _is_dispensable(self, failures: _Failures) -> bool:
        """Return whether the others get on, so that this connection is one too many for the
        server; if so, it is taken off."""
        with self._lock:
            if self.left > 1 and failures.others_got_on():
                self.left -= 1
                return True
        return False

    def fetch_whole(self) -> None:
        """Read the file from its beginning, again and again, until all of it is there."""
        with self._failing():
            failures = _Failures(self._patience, self._partial)
            all_ = (0, self._source.size)
            while self._partial.is_open(self._round):
                before = self._partial.covered_bytes()
                _, error = self._fetch(None, all_)
                got = self._partial.covered_bytes() - before
                failures.note(got, self._source.size - before, error)
                if error is None:
                    if not self._wait_for_damage():
                        return
                elif failures.are_too_many():
                    raise Unusable(f"{error} ({failures.in_a_row} times in a row)")
                else:
                    self.over.wait(self._patience.wait_s(failures.in_a_row, error.retry_after_s))

    def _wait_for_damage(self) -> bool:
        """Wait until a part is to be fetched again; False when the round is over first."""
        if part := self._partial.take(self._round):
            self._partial.give_back(self._round, part)
            return True
        return False

    def _fetch(self, part: Range | None, goal: Range) -> tuple[int, Transient | None]:
        """Fetch a part, or all; return how many bytes came, and what went wrong."""
        at = goal[0]
        try:
            with self._web.get(self._source.address, part, self._source.version) as answer:
                for data in _gathered(answer):
                    if not self._partial.write(self._round, at, data[: goal[1] - at]):
                        break
                    at = min(at + len(data), goal[1])
                    # A body of unknown length does not end by itself.
                    if at == goal[1]:
                        break
        except Transient as error:
            return at - goal[0], error
        return at - goal[0], None

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Hand what ends a connection to those who read; a bug, too."""
        try:
            yield
        except (Unusable, Changed, NoRanges, TrainingError) as error:
            self._partial.fail(self._round, error)
        except Exception as error:
            self._partial.fail(self._round, error)
            raise


class _Failures:
    """Counts the failures in a row of one connection."""

    def __init__(self, patience: Patience, partial: Partial) -> None:
        self.in_a_row = 0
        self._patience = patience
        self._partial = partial
        self._covered_before = 0

    def note(self, got: int, asked: int, error: Transient | None) -> None:
        if error is None or got >= min(asked, self._patience.progress_bytes):
            self.in_a_row = 0
        if error is not None:
            if self.in_a_row == 0:
                self._covered_before = self._partial.covered_bytes()
            self.in_a_row += 1

    def are_too_many(self) -> bool:
        return self.in_a_row >= self._patience.tries

    def others_got_on(self) -> bool:
        return self._partial.covered_bytes() > self._covered_before


_GATHERED_BYTES = 256 * 1024
_GATHERED_S = 0.5


def _gathered(answer: Answer) -> Iterator[bytes]:
    """Yield the body in larger pieces: a TLS record is 16 KiB, and each write costs a lock.

    What came before a failure is not lost.
    """
    parts: list[bytes] = []
    size, since = 0, time.monotonic()
    try:
        for chunk in answer.chunks():
            parts.append(chunk)
            size += len(chunk)
            if size >= _GATHERED_BYTES or time.monotonic() - since >= _GATHERED_S:
                yield b"".join(parts)
                parts, size, since = [], 0, time.monotonic()
    except Transient:
        if parts:
            yield b"".join(parts)
        raise
    if parts:
        yield b"".join(parts)
