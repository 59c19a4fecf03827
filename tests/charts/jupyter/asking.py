"""Asks the proxy of a stand as a browser elsewhere would."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.charts.jupyter.stand import Stand

PASSWORD = "right horse"
HASHES = {
    "bcrypt": "$2y$08$xVCrO90VGMNltDmFLFsTs.ogLS0UAPsmt/DqQEhCPKcDdLj9/MM0K",
    "apr1": "$apr1$saltsalt$scWyYQ1QHf7tMd76cMHnk1",
    "md5": "$1$saltsalt$CNx8/WzhybTZz5s.ki4AO.",
    "sha1": "{SHA}/KuS/jlxUFlZsIzQk7AVsVz2PMw=",
    "plain": "{PLAIN}right horse",
}
"""Of the password."""

VALUES: dict[str, Any] = {
    "image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/any:0123456789ab-notebook",
    "htpasswd": HASHES["bcrypt"],
    "global": {"source_cidr": "203.0.113.7/32", "log_dir": "maskrcnn-2026-11-29-01-02-03"},
}
"""The least that a test chart takes."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    headers: Mapping[str, str]
    cookies: tuple[str, ...] = ()
    """Each `Set-Cookie`."""


def ask(
    stand: Stand,
    port: int,
    path: str = "/",
    *,
    host: str = "localhost",
    source: str = "127.0.0.1",
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request over TLS; the certificate is checked against the chart's own.

    Args:
        port: As the pod has it.
        host: What the request asks for; TLS itself is asked for localhost.
        source: The address that it comes from.
    """
    context = ssl.create_default_context(cadata=stand.secret("-tls")["tls.crt"])
    connection = http.client.HTTPConnection("localhost", stand.ports[port])
    plain = socket.create_connection(
        ("127.0.0.1", stand.ports[port]), timeout=30, source_address=(source, 0)
    )
    connection.sock = context.wrap_socket(plain, server_hostname="localhost")
    return _answer(connection, method, path, {"Host": host, **(headers or {})})


def ask_plainly(stand: Stand, port: int) -> Answer:
    """Send a request without TLS."""
    connection = http.client.HTTPConnection("127.0.0.1", stand.ports[port], timeout=30)
    return _answer(connection, "GET", "/", {"Host": "localhost"})


def login(password: str, user: str = "tensorboard") -> dict[str, str]:
    """Return the header that a browser sends with a password."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _answer(
    connection: http.client.HTTPConnection, method: str, path: str, headers: Mapping[str, str]
) -> Answer:
    try:
        connection.request(method, path, headers=dict(headers))
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
        cookies = tuple(response.headers.get_all("Set-Cookie", ()))
        return Answer(response.status, body, dict(response.getheaders()), cookies)
    finally:
        connection.close()
