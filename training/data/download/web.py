"""One request to one address, and whether its answer can be used."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import (
    HTTPError,
    IncompleteRead,
    MaxRetryError,
    ProtocolError,
    ProxyError,
    SSLError,
)

from training.data.download.patience import Patience
from training.data.download.pools import Pools
from training.data.download.ranges import Range

READ_BYTES = 256 * 1024
MOST_REDIRECTS = 5

_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Transient(Exception):
    """The request failed in a way that may pass."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class Unusable(Exception):
    """The address cannot give the file, now or in a minute."""


class Changed(Exception):
    """The address has another file than when the download began."""


class NoRanges(Exception):
    """The address sends the whole file whatever part is asked for."""


@dataclass(frozen=True)
class Version:
    """What an address says of its file."""

    size: int | None
    """Bytes; None where it does not say."""
    validator: str | None
    """A strong ETag, or else the time of the last change; None where it tells neither."""


class Answer:
    """The body of an answer, as it arrives."""

    def __init__(
        self, response: urllib3.BaseHTTPResponse, version: Version, part: Range, patience: Patience
    ) -> None:
        self.version = version
        self.part = part
        """The bytes that the body is; the end is infinite where the size is not known."""
        self._response = response
        self._patience = patience

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, never more than `part` says.

        Raises:
            Transient: The connection broke, ended early or is too slow.
        """
        start, end = self.part
        left = end - start
        pace = _Pace(self._patience)
        while left > 0:
            try:
                chunk = self._response.read1(min(READ_BYTES, left), decode_content=False)
            except (HTTPError, OSError) as error:
                raise Transient(_reason_of(error)) from error
            if not chunk:
                raise Transient(f"the connection ended {left:,} bytes early")
            yield chunk
            left -= len(chunk)
            pace.note(len(chunk))


class _Pace:
    """Gives up a connection that sends a byte now and then, which no timeout of a socket sees."""

    def __init__(self, patience: Patience) -> None:
        self._window_s = 2 * patience.silence_s
        self._least_bytes = patience.slowest_bytes_per_s * self._window_s
        self._begin(time.monotonic())

    def _begin(self, now: float) -> None:
        self._since, self._bytes = now, 0

    def note(self, count: int) -> None:
        self._bytes += count
        now = time.monotonic()
        if now - self._since < self._window_s:
            return
        if self._bytes < self._least_bytes:
            raise Transient(f"only {self._bytes:,} bytes came in {self._window_s:.0f} seconds")
        self._begin(now)


class Web:
    """Sends requests; keeps connections open; may be used by several threads."""

    def __init__(self, connections: int, patience: Patience) -> None:
        self._patience = patience
        self._pools = Pools(connections, patience)

    @contextmanager
    def get(self, address: str, part: Range | None, known: Version | None) -> Iterator[Answer]:
        """Ask for a part of a file, or all of it, and give the answer where it can be used.

        Args:
            address: Of the file.
            part: The bytes; None for all.
            known: What an earlier answer said; None for the first request.

        Raises:
            Transient: Try again later.
            Unusable: Do not.
            Changed: The file is not the `known` one.
            NoRanges: The answer is the whole file, not the part.
        """
        headers = {"Accept-Encoding": "identity", "User-Agent": "mask-rcnn-data"}
        if part:
            headers["Range"] = f"bytes={part[0]}-{part[1] - 1}"
            if known and known.validator:
                headers["If-Range"] = known.validator
        response = self._follow(address, headers)
        try:
            yield _judge(response, part, known, self._patience)
        finally:
            # A connection whose answer was not read to its end cannot be used again.
            if response.length_remaining == 0:
                response.release_conn()
            else:
                response.close()

    def _follow(self, address: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        """Send the request, and send it on where the server says so."""
        for _ in range(MOST_REDIRECTS + 1):
            response = self._send(address, headers)
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or not target:
                return response
            response.close()
            target = urljoin(address, target)
            if urlsplit(target).scheme not in {"http", "https"}:
                raise Unusable(f"it leads to {target:.200}, which is no address of the web")
            if urlsplit(address).scheme == "https" != urlsplit(target).scheme:
                raise Unusable("it leads from https to plain http, which is refused")
            address = target
        raise Unusable(f"it leads on more than {MOST_REDIRECTS} times")

    def _send(self, address: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        try:
            return self._pools.of(address).request(
                "GET",
                address,
                headers=headers,
                preload_content=False,
                decode_content=False,
                redirect=False,
            )
        except (HTTPError, OSError) as error:
            cause = error.reason if isinstance(error, MaxRetryError) else error
            if isinstance(cause, SSLError):
                raise Unusable(
                    f"its certificate cannot be verified ({cause}). Where a proxy has a "
                    "certificate of its own, name it in SSL_CERT_FILE"
                ) from error
            through = " through the proxy" if isinstance(cause, ProxyError) else ""
            raise Transient(f"cannot be reached{through} ({_reason_of(error)})") from error


def _judge(
    response: urllib3.BaseHTTPResponse,
    part: Range | None,
    known: Version | None,
    patience: Patience,
) -> Answer:
    status = response.status
    if status in _TRANSIENT:
        raise _busy(response, patience)
    if status == 416 and known:
        raise Changed
    if status not in {200, 206}:
        raise Unusable(f"it answers {status} {response.reason or ''}".rstrip())
    _require_plain_body(response)
    if status == 206:
        version, range_ = _read_content_range(response, part)
    else:
        length = _number(response.headers.get("Content-Length"))
        version = Version(length, _validator(response))
        range_ = (0, length if length is not None else _END)
    if known and _differs(version, known):
        raise Changed
    if part and status == 200:
        raise NoRanges
    return Answer(response, version, range_, patience)


_END = 2**62
"""Of a body whose length nobody told."""


def _busy(response: urllib3.BaseHTTPResponse, patience: Patience) -> Transient | Unusable:
    wait_s = _retry_after_s(response.headers.get("Retry-After"))
    if wait_s is not None and wait_s > patience.longest_retry_after_s:
        return Unusable(f"it answers {response.status} and asks to wait {wait_s:,.0f} seconds")
    return Transient(f"it answers {response.status} {response.reason or ''}".rstrip(), wait_s)


def _require_plain_body(response: urllib3.BaseHTTPResponse) -> None:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        raise Transient(f"it sends the file compressed ({encoding}), which nobody asked for")
    kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind in {"text/html", "application/xhtml+xml"}:
        raise Transient("it answers with a web page, not with the file")


def _read_content_range(
    response: urllib3.BaseHTTPResponse, part: Range | None
) -> tuple[Version, Range]:
    text = response.headers.get("Content-Range", "")
    found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", text.strip())
    if not part or not found:
        raise Transient(f"its answer has no range that can be used ({text!r:.80})")
    first, last, total = map(int, found.groups())
    if first != part[0] or not first <= last < min(part[1], total):
        raise Transient(f"asked for bytes {part[0]}-{part[1] - 1}, it answers {text!r:.80}")
    length = _number(response.headers.get("Content-Length"))
    if length is not None and length != last + 1 - first:
        raise Transient(f"it announces {length:,} bytes for {text!r:.80}")
    return Version(total, _validator(response)), (first, last + 1)


def _validator(response: urllib3.BaseHTTPResponse) -> str | None:
    etag = response.headers.get("ETag", "").strip()
    # A weak one says that two files mean the same, not that their bytes are the same.
    if etag and not etag.startswith("W/"):
        return etag
    return response.headers.get("Last-Modified")


def _differs(now: Version, known: Version) -> bool:
    if None not in (now.size, known.size) and now.size != known.size:
        return True
    return None not in (now.validator, known.validator) and now.validator != known.validator


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,18}", text.strip()) else None


def _retry_after_s(text: str | None) -> float | None:
    if not text:
        return None
    if (seconds := _number(text)) is not None:
        return float(seconds)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _reason_of(error: BaseException) -> str:
    """Return what went wrong without the addresses of Python objects that urllib3 puts in."""
    cause = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    if isinstance(cause, ProtocolError) and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    if isinstance(cause, IncompleteRead):
        return f"the connection ended {cause.expected or 0:,} bytes early"
    text = re.sub(r"<[^<>]*>|\w+\(host=[^()]*\)", "", str(cause)).strip(" :,")
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__
