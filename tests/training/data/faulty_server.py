"""A web server on this machine that serves files, and misbehaves as it is told."""

from __future__ import annotations

import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    number: int
    """From 1 on, all files counted."""
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Fault:
    """How one answer differs from a good one."""

    status: int | None = None
    """Instead of the file."""
    body: bytes = b""
    """With that status."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Added, or instead of the right ones."""
    drop_after: int | None = None
    """Bytes of the body, then the connection is closed."""
    seconds_a_chunk: float = 0.0
    chunk_bytes: int = 64 * 1024
    ignores_range: bool = False
    is_chunked: bool = False
    """The length is not told."""


GOOD = Fault()
Decide = Callable[[Request], Fault | None]


class FaultyServer:
    """Files by path, for example `train2017.zip`."""

    def __init__(self, files: dict[str, bytes], decide: Decide = lambda _: None) -> None:
        self.files = files
        self.decide = decide
        self.etags: dict[str, str] = {}
        self.requests: list[Request] = []
        self.sent_bytes = 0
        self.lock = threading.Lock()
        self.address = ""

    def etag(self, path: str) -> str:
        data = self.files[path]
        return self.etags.get(path) or f'"{len(data)}-{zlib.crc32(data[:100_000])}"'


@contextmanager
def serving(
    files: dict[str, bytes],
    decide: Decide = lambda _: None,
    *,
    tls: ssl.SSLContext | None = None,
) -> Iterator[FaultyServer]:
    server = FaultyServer(files, decide)
    handler = type("Handler", (_Handler,), {"faulty": server})
    with _Server(("127.0.0.1", 0), handler) as listener:
        if tls:
            listener.socket = tls.wrap_socket(listener.socket, server_side=True)
        scheme = "https" if tls else "http"
        server.address = f"{scheme}://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        listener.shutdown()
        thread.join()


def _path(target: str) -> str:
    """Return the path of a request, to a proxy, too, which is asked for whole addresses."""
    return urlsplit(target).path.strip("/")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """A client that went away is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faulty: FaultyServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        server = self.faulty
        with server.lock:
            request = Request(len(server.requests) + 1, _path(self.path), dict(self.headers))
            server.requests.append(request)
        fault = server.decide(request) or GOOD
        if fault.status is not None:
            self._send(fault.status, {}, fault.body, fault)
            return
        data = server.files.get(request.path)
        if data is None:
            self._send(404, {}, b"no such file", fault)
            return
        etag = server.etag(request.path)
        headers = {"ETag": etag, "Content-Type": "application/zip"}
        part = self._range(len(data), etag, fault)
        if part is None:
            self._send(200, headers, data, fault)
            return
        start, end = part
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        self._send(206, headers, data[start:end], fault)

    def _range(self, size: int, etag: str, fault: Fault) -> tuple[int, int] | None:
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not found or fault.ignores_range or self.headers.get("If-Range", etag) != etag:
            return None
        return int(found[1]), min(int(found[2]) + 1, size)

    def _send(self, status: int, headers: dict[str, str], body: bytes, fault: Fault) -> None:
        self.send_response(status)
        if not fault.is_chunked:
            headers["Content-Length"] = str(len(body))
        for name, value in {**headers, **fault.headers}.items():
            self.send_header(name, value)
        if fault.is_chunked or fault.drop_after is not None:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        end = len(body) if fault.drop_after is None else min(fault.drop_after, len(body))
        for start in range(0, end, fault.chunk_bytes):
            chunk = body[start : min(start + fault.chunk_bytes, end)]
            self.wfile.write(chunk)
            with self.faulty.lock:
                self.faulty.sent_bytes += len(chunk)
            if fault.seconds_a_chunk:
                time.sleep(fault.seconds_a_chunk)
