"""What stands between the socket and moto: readable errors, a quiet end, and a status page."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

STATUS_PATH = "/_localaws/status"

_HOSTS = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class _Failure:
    status: str
    code: str
    message: str


_STOPPING = _Failure("503 Service Unavailable", "ServiceUnavailable", "Local AWS is stopping")
_STRANGER = _Failure("403 Forbidden", "AccessDenied", "Local AWS answers this machine only")


class Gateway:
    """A WSGI application around moto's.

    It answers `STATUS_PATH` itself, turns exceptions that moto would show as an HTML page of its
    debugger into errors that an SDK understands, and can hold back requests so that the state is
    saved whole.
    """

    def __init__(self, application: Application, status: Callable[[], dict[str, Any]]) -> None:
        self._application = application
        self._status = status
        self._changed = threading.Condition()
        self._in_flight = 0
        self._closed = False

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "").rsplit(":", 1)[0]
        if host not in _HOSTS and not host.endswith(".localhost"):
            # A web page can reach this machine by a name of its own (DNS rebinding).
            return _fail(environ, start_response, _STRANGER)
        if environ.get("PATH_INFO") == STATUS_PATH:
            page = json.dumps(self._status())
            return _respond(start_response, "200 OK", "application/json", page)
        with self._enter() as admitted:
            if not admitted:
                return _fail(environ, start_response, _STOPPING)
            try:
                return self._application(environ, start_response)
            except NotImplementedError as error:
                # 501: SDKs repeat a request on 500, 502, 503 and 504, which would only cost time.
                reason = f"Local AWS does not have this: {error}"
                failure = _Failure("501 Not Implemented", "NotImplemented", reason)
                return _fail(environ, start_response, failure)
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                reason = f"{type(error).__name__}: {error}"
                failure = _Failure("500 Internal Server Error", "InternalFailure", reason)
                return _fail(environ, start_response, failure)

    @contextmanager
    def _enter(self) -> Iterator[bool]:
        with self._changed:
            admitted = not self._closed
            self._in_flight += admitted
        try:
            yield admitted
        finally:
            with self._changed:
                self._in_flight -= admitted
                self._changed.notify_all()

    def close(self, patience_s: float) -> None:
        """Turn new requests away and wait until those on their way are done."""
        deadline = time.monotonic() + patience_s
        with self._changed:
            self._closed = True
            while self._in_flight and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)


def _fail(environ: Environ, start_response: StartResponse, failure: _Failure) -> Iterable[bytes]:
    """Answer with an error in the form of the protocol that the request speaks."""
    if "HTTP_X_AMZ_TARGET" in environ or "json" in environ.get("CONTENT_TYPE", ""):
        body = json.dumps({"__type": failure.code, "message": failure.message})
        return _respond(start_response, failure.status, "application/x-amz-json-1.1", body)
    details = f"<Code>{failure.code}</Code><Message>{escape(failure.message)}</Message>"
    error = f"<Error><Type>Receiver</Type>{details}</Error>"
    # S3 has the bare element, the query protocol wraps it.
    is_query = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
    body = f"<ErrorResponse>{error}</ErrorResponse>" if is_query else error
    return _respond(start_response, failure.status, "text/xml", body)


def _respond(start_response: StartResponse, status: str, kind: str, body: str) -> Iterable[bytes]:
    data = body.encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(data)))])
    return [data]
