"""The actions of `mask-rcnn-node` that are about jobs.

From outside: submit, status, list, logs, stop, each with a request in base64. Between nodes, and
from units: resume, conduct NAME, host-run, host-leave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from node.config import NodeConfig, load
from node.dispatch import decode

from . import answers, submit
from .conduct import conduct
from .host_run import host_leave, host_run
from .refusal import Refused

_ASKED: dict[str, Callable[[NodeConfig, dict[str, Any]], dict[str, Any]]] = {
    "submit": submit.submit,
    "status": answers.status,
    "list": answers.list_jobs,
    "logs": answers.logs,
    "stop": submit.stop,
}
ACTIONS = (*_ASKED, "resume", "conduct", "host-run", "host-leave")


def main(arguments: list[str]) -> int:
    """Run an action and return the exit code; answers go to stdout.

    Raises:
        NodeError: With `kind`, which the caller makes the answer.
    """
    action, *rest = arguments
    if action in _ASKED:
        _print(_ASKED[action](_cluster(), decode(rest[0]) if rest and rest[0] else {}))
    elif action == "resume":
        _print(submit.resume(_cluster()))
    elif action == "host-leave":
        _print(host_leave())
    elif action == "host-run":
        return host_run()
    elif action == "conduct" and len(rest) == 1:
        return conduct(_cluster(), rest[0])
    else:
        raise Refused("usage", f"{' '.join(arguments)}: expected one of {', '.join(ACTIONS)}")
    return 0


def _cluster() -> NodeConfig:
    """Return this node's cluster.

    Raises:
        Refused: EFS is not mounted: below its mount point there is another disk now.
    """
    config = load()
    if not config.nodes.is_dir():
        raise Refused(
            "not-ready",
            f"{config.efs.mount} is not mounted yet: the head's set-up goes on, or has failed "
            "(log group: INSTANCE/setup); try again in a minute",
        )
    return config


def _print(answer: dict[str, Any]) -> None:
    sys.stdout.write(answers.to_text(answer) + "\n")
    sys.stdout.flush()
