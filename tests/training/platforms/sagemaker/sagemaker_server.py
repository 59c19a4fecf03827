"""A SageMaker with faults: it makes jobs, answers when it pleases, and counts."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import boto3

from tests.training.pretender import answering
from training.aws.client import _config, new_session
from training.aws.clients import Clients

_ONE_AT_A_TIME = threading.Lock()


@cache
def session() -> boto3.Session:
    """Return one session for all: it reads SageMaker's model once."""
    made = new_session(region="us-east-1")
    return boto3.Session("key", "secret", region_name="us-east-1", botocore_session=made._session)


class Fault(Enum):
    """What becomes of one request."""

    NONE = "answered"
    LOST_BEFORE = "lost on its way"
    LOST_AFTER = "done, and the answer lost"
    GATEWAY = "done, and answered by a page of a gateway"


@dataclass(frozen=True)
class Refusal:
    """An error that is answered."""

    code: str
    message: str = "No."
    status: int = 400


THROTTLED = Refusal("ThrottlingException", "Rate exceeded")
EXPIRED = Refusal("ExpiredTokenException", "The security token included in the request is expired")
BROKEN = Refusal("InternalFailure", "", 500)


@dataclass
class Server:
    """What it has, and what it was asked."""

    endpoint: str = ""
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    faults: dict[str, deque[Fault | Refusal]] = field(default_factory=dict)
    """By operation, one for each request; then none."""
    always: dict[str, Fault | Refusal] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, operation: str, faults: Sequence[Fault | Refusal]) -> None:
        self.faults[operation] = deque(faults)

    def sent(self, operation: str) -> list[dict[str, Any]]:
        return [body for name, body in self.asked if name == operation]

    def clients(self) -> Clients:
        """Return clients of this server, as `connect` makes them of AWS."""
        with _ONE_AT_A_TIME:
            clients = Clients(session(), None, read_timeout_s=5, attempts=1)
            clients._new = partial(
                session().client, endpoint_url=self.endpoint, config=_config(5, 1)
            )
            clients.boto("sagemaker")
        return clients

    def fault(self, operation: str) -> Fault | Refusal:
        waiting = self.faults.get(operation)
        return waiting.popleft() if waiting else self.always.get(operation, Fault.NONE)

    def do(self, operation: str, body: dict[str, Any]) -> dict[str, Any] | Refusal:
        name = body["TrainingJobName"]
        if operation == "CreateTrainingJob":
            if name in self.jobs:
                return Refusal("ResourceInUse", "Training job names must be unique")
            self.jobs[name] = {**body, "CreationTime": 1_700_000_000}
            return {"TrainingJobArn": f"arn:aws:sagemaker:us-east-1:1:training-job/{name}"}
        assert operation == "DescribeTrainingJob"
        if name not in self.jobs:
            return Refusal("ValidationException", "Requested resource not found.")
        return {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Starting", **self.jobs[name]}


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            operation = self.headers["X-Amz-Target"].partition(".")[2]
            with server.lock:
                server.asked.append((operation, body))
                fault = server.fault(operation)
                refused = isinstance(fault, Refusal) or fault is Fault.LOST_BEFORE
                answer = None if refused else server.do(operation, body)
            if fault in (Fault.LOST_BEFORE, Fault.LOST_AFTER):
                self.close_connection = True
                self.connection.close()
            elif fault is Fault.GATEWAY:
                self._send(502, "text/html", b"<html><body>Bad Gateway</body></html>")
            else:
                self._answer(fault if isinstance(fault, Refusal) else answer)

        def _answer(self, answer: dict[str, Any] | Refusal | None) -> None:
            if isinstance(answer, Refusal):
                body = {"__type": answer.code, "message": answer.message}
                self._send(answer.status, "application/x-amz-json-1.1", json.dumps(body).encode())
            else:
                self._send(200, "application/x-amz-json-1.1", json.dumps(answer).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("x-amzn-RequestId", "r-1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with answering(Handler) as server.endpoint:
        yield server
