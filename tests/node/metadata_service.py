"""An instance's metadata service for one test: IMDSv2 only, its tokens can be made invalid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Service:
    values: dict[str, str] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    endpoint: str = ""
    is_broken: bool = False


@contextmanager
def metadata_service(**values: str) -> Iterator[Service]:
    service = Service(
        {key.replace("__", "/").replace("_", "-"): one for key, one in values.items()}
    )

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            assert self.path == "/latest/api/token"
            assert self.headers["X-aws-ec2-metadata-token-ttl-seconds"] == "21600"
            service.tokens.append(f"token-{len(service.tokens)}")
            self._answer(200, service.tokens[-1])

        def do_GET(self) -> None:
            if service.is_broken:
                return self._answer(503, "")
            if self.headers["X-aws-ec2-metadata-token"] not in service.tokens[-1:]:
                return self._answer(401, "")
            value = service.values.get(self.path.removeprefix("/latest/meta-data/"))
            return self._answer(404, "") if value is None else self._answer(200, value)

        def _answer(self, code: int, text: str) -> None:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
