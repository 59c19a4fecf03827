"""A head node that answers as a test says, and notes what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.platforms.ec2.command import Action

Answer = Mapping[str, Any] | BaseException


def status(state: str, name: str = "job-1", **more: Any) -> dict[str, Any]:
    """Return what the node's program says of a job."""
    return {
        "name": name,
        "state": state,
        "reason": None,
        "exit_code": None,
        "created": "2026-01-02T03:04:05Z",
        "started": None,
        "updated": "2026-01-02T04:04:05Z",
        "hosts": [],
        "restarts": 0,
        "step": None,
        "run": f"/efs/mask-rcnn/sagemaker/output/log-{name}",
        "algorithm": "horovod",
        **more,
    }


def host(address: str) -> dict[str, Any]:
    return {"address": address, "instance_id": "i-1", "slots": 8, "state": "ready"}


@dataclass
class FakeHead:
    """Answers each action from a list of its own; the last answer stays."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    text: bytes = b""
    """What the job has written."""
    chunk: int = 15_000
    """Bytes of one answer to `logs`."""
    asked: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)
    on_ask: Callable[[str], None] = lambda action: None

    def ask(
        self,
        action: Action,
        request: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 120.0,
        about: str = "",
    ) -> dict[str, Any]:
        self.on_ask(action)
        self.asked.append((action, request))
        planned = self.answers.get(action, [])
        if action == "logs" and not planned:
            assert request is not None
            return self._logs(int(request["offset"]))
        found = planned.pop(0) if len(planned) > 1 else planned[0]
        if isinstance(found, BaseException):
            raise found
        return dict(found)

    def _logs(self, offset: int) -> dict[str, Any]:
        part = self.text[offset : offset + self.chunk]
        return {"text": part.decode(), "next": offset + len(part), "done": False}

    def actions(self) -> Sequence[str]:
        return [action for action, _ in self.asked]
