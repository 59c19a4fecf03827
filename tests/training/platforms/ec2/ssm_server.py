"""Systems Manager at an address of this machine, in front of a head node's program.

It speaks the API's protocol, so that a real client and its errors are part of what is tested.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.training.pretender import answering

Program = Callable[[str, Any], Mapping[str, Any]]
"""Action and request to what the node's program prints."""

Reply = tuple[int, Mapping[str, Any]]
"""The status of HTTP, and the body."""

HEAD = "i-0123456789abcdef0"


@dataclass
class SsmServer:
    """What it is told to do, and what it was sent."""

    program: Program
    endpoint: str = ""
    statuses: list[str] = field(default_factory=lambda: ["Pending", "InProgress"])
    """Of each command, one look after the other, before it is done."""
    ends: str | None = None
    """StatusDetails of every command in place of the program's run."""
    nobody: bool = False
    """No instance has the tag."""
    throttled: int = 0
    """Requests that are answered with ThrottlingException first."""
    lost_answers: int = 0
    """SendCommand requests that are done, and whose answer gets lost."""
    sent: list[dict[str, Any]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    commands: dict[str, dict[str, Any]] = field(default_factory=dict)

    def answer(self, operation: str, body: dict[str, Any]) -> Reply | None:
        """Return status and body; None closes the connection without a word."""
        if self.throttled > 0:
            self.throttled -= 1
            return 400, {"__type": "ThrottlingException", "message": "Rate exceeded"}
        found: Reply | None = getattr(self, f"_{operation}")(body)
        return found

    def _CancelCommand(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        self.cancelled.append(body["CommandId"])
        return 200, {}

    def _ListCommands(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        details = "NoInstancesInTag" if self.nobody else "Pending"
        found = {"CommandId": body["CommandId"], "Status": "Success", "StatusDetails": details}
        return 200, {"Commands": [found]}

    def _ListCommandInvocations(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        if self.nobody:
            return 200, {"CommandInvocations": []}
        command = self.commands[body["CommandId"]]
        looks = command["looks"]
        command["looks"] += 1
        status = self.statuses[looks] if looks < len(self.statuses) else command["status"]
        found = {"InstanceId": HEAD, "Status": "Success", "StatusDetails": status}
        return 200, {"CommandInvocations": [found]}

    def _GetCommandInvocation(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        assert body["InstanceId"] == HEAD
        command = self.commands[body["CommandId"]]
        return 200, {
            "InstanceId": HEAD,
            "Status": command["status"],
            "StatusDetails": command["status"],
            "StandardOutputContent": command["output"],
            "StandardErrorContent": "",
        }

    def _SendCommand(self, body: dict[str, Any]) -> Reply | None:  # noqa: N802
        self.sent.append(body)
        command_id = str(uuid.uuid4())
        output, status = "", self.ends or "Success"
        if not self.nobody and self.ends is None:
            text = body["Parameters"]["Request"][0]
            request = json.loads(base64.b64decode(text)) if text else None
            answer = self.program(body["Parameters"]["Action"][0], request)
            output, status = json.dumps(answer), "Failed" if "error" in answer else "Success"
        self.commands[command_id] = {"output": output, "status": status, "looks": 0}
        if self.lost_answers > 0:
            self.lost_answers -= 1
            return None
        return 200, {"Command": {"CommandId": command_id}}


@contextmanager
def serving(program: Program) -> Iterator[SsmServer]:
    """Answer as Systems Manager does."""
    server = SsmServer(program)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            operation = self.headers["X-Amz-Target"].partition(".")[2]
            found = server.answer(operation, body)
            if found is None:
                self.close_connection = True
                self.connection.close()
                return
            status, document = found
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("x-amzn-RequestId", "r-1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with answering(Handler) as server.endpoint:
        yield server
