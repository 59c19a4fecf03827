"""state.json: how a job stands. Written whole, so that whoever reads it sees it before or after."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from node import json_file

from .places import RunFolder

FINAL = ("completed", "failed", "checkpointed", "stopped")
ACTIVE = ("waiting", "running", "stopping")
STATES = ("queued", *ACTIVE, *FINAL)

STAGING = "stage-data"
"""What stands for the algorithm of a run that copies data and trains nothing."""

_OWN = ("ran_s", "failures", "round", "idle_rounds")
"""Of the conductor, not of the answer."""


@dataclass
class State:
    """As `mask-rcnn-node status` answers it, and what the conductor must know after a restart."""

    name: str
    algorithm: str
    run: str
    created: str
    state: str = "queued"
    reason: str | None = None
    exit_code: int | None = None
    started: str | None = None
    updated: str = ""
    hosts: list[dict[str, Any]] = field(default_factory=list)
    restarts: int = 0
    step: int | None = None
    ran_s: float = 0
    """Time that it ran, over all restarts."""
    failures: int = 0
    """That were the job's own."""
    round: int = 0
    """How often it was started."""
    idle_rounds: int = 0
    """Starts in a row that brought no new step."""

    @property
    def is_final(self) -> bool:
        return self.state in FINAL

    def answer(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in _OWN}


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def write_state(run: RunFolder, state: State) -> None:
    state.updated = now()
    json_file.write(run.state, asdict(state))


def read_state(run: RunFolder) -> State | None:
    """Return the state; None where there is none, or not a whole one."""
    document = read_object(run.state)
    names = {each.name for each in fields(State)}
    try:
        state = State(**{name: value for name, value in document.items() if name in names})
    except TypeError:
        return None
    return state if state.state in STATES else None


def read_object(path: Any) -> dict[str, Any]:
    """Return a file's object; empty where it is missing or half written."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
