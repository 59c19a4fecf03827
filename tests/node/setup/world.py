"""What an instance finds around it: its metadata, and file systems that answer on their ports.

Runs inside the instance's network. `/share/metadata.json` may change while it runs.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SHARE = Path("/share")
TOKEN = "a-token"
PREFIX = "/latest/meta-data/"


class Metadata(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        is_right = self.path == "/latest/api/token" and int(
            self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
        )
        self._answer(200, TOKEN) if is_right else self._answer(403, "")

    def do_GET(self) -> None:
        if self.headers["X-aws-ec2-metadata-token"] != TOKEN:
            return self._answer(401, "")
        values = json.loads((SHARE / "metadata.json").read_text())
        value = values.get(self.path.removeprefix(PREFIX))
        return self._answer(404, "") if value is None else self._answer(200, value)

    def _answer(self, code: int, text: str) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(ports: list[str]) -> None:
    listeners = [socket.create_server(("0.0.0.0", int(port))) for port in ports]
    server = ThreadingHTTPServer(("169.254.169.254", 80), Metadata)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (SHARE / "world-is-up").touch()
    while listeners:
        listeners[0].accept()[0].close()
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])
