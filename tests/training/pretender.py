"""A server that answers in place of AWS: a captive portal, a proxy, one that hangs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WHO = b"Action=GetCallerIdentity"

IDENTITY = (
    b"<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account>"
    b"<Arn>arn:aws:iam::123456789012:user/me</Arn></GetCallerIdentityResult>"
    b"<ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></GetCallerIdentityResponse>"
)


@dataclass(frozen=True)
class Reply:
    """What is answered to everything."""

    status: int
    kind: str | None
    body: bytes
    request_id: str | None = None
    """As AWS's answers have it, in a header."""


JUNK = {
    "a page": Reply(200, "text/html", b"<!DOCTYPE html><html><body>Log in<br></body></html>"),
    "a page that is XML": Reply(200, "text/html", b"<html><body>Log in</body></html>"),
    "nothing": Reply(200, None, b""),
    "an empty object": Reply(200, "application/json", b"{}"),
    "a list": Reply(200, "application/json", b"[1]"),
    "null": Reply(200, "application/json", b"null"),
    "binary": Reply(200, "application/octet-stream", bytes(range(128, 256))),
    "a text": Reply(500, "text/plain", b"oops"),
    "a page of a gateway": Reply(502, "text/html", b"<html><body>Bad Gateway</body></html>"),
    "a refusal of a proxy": Reply(403, "text/html", b"<html><body>Blocked</body></html>"),
    "a way to another page": Reply(302, "text/html", b"<html/>"),
}


@dataclass
class Pretender:
    """One that answers."""

    endpoint: str
    reply: Reply | None
    """To every request; None: never."""


@contextmanager
def pretending(reply: Reply | None, *, but_who: bool = False) -> Iterator[Pretender]:
    """Answer at an address of this machine.

    Args:
        reply: The first; it may be changed.
        but_who: Whether STS's GetCallerIdentity is answered as it should be.
    """
    over = threading.Event()
    pretender = Pretender("", reply)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if but_who and WHO in request:
                self._send(Reply(200, "text/xml", IDENTITY))
            elif pretender.reply is None:
                over.wait(120)
            else:
                self._send(pretender.reply)

        do_GET = do_HEAD = do_PUT = do_POST  # noqa: N815

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            if reply.kind:
                self.send_header("Content-Type", reply.kind)
            if reply.request_id:
                self.send_header("x-amzn-RequestId", reply.request_id)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with answering(Handler) as pretender.endpoint:
        try:
            yield pretender
        finally:
            over.set()


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Let a handler answer requests; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def environ(endpoint: str) -> dict[str, str]:
    """Return the variables of a user who is sent there."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/nonexistent/config",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials",
    }
