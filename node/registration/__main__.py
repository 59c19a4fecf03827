"""Keeps this node in the cluster's register.

run                   until the unit is stopped
wait SECONDS          until the register shows this node as ready
failed REASON         once: its set-up failed
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import registrations
from ..bounded import Bounded
from ..config import NodeConfig, load
from ..errors import NodeError, UsageError
from ..metadata import Metadata
from .loop import Loop
from .this_node import count_slots, describe

_PAUSE_S = 0.2


def main(arguments: Sequence[str]) -> int:
    try:
        _run(list(arguments))
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    return 0


def _run(arguments: list[str]) -> None:
    config = load()
    if arguments == ["run"]:
        node = describe(config, Metadata(), count_slots(config))
        Loop(config.nodes, node).run()
    elif len(arguments) == 2 and arguments[0] == "wait":
        _wait(config, float(arguments[1]))
    elif len(arguments) == 2 and arguments[0] == "failed":
        node = replace(describe(config, Metadata(), 0), state="failed", reason=arguments[1][:2000])
        Bounded().call(lambda: registrations.write(config.nodes, node), timeout_s=10)
    else:
        raise UsageError(f"registration: {arguments!r}; wanted run, wait SECONDS or failed REASON")


def _wait(config: NodeConfig, seconds: float) -> None:
    """Wait until this node's own file is there, fresh and ready.

    Raises:
        NodeError: It was not within so many seconds.
    """
    instance_id = Metadata().must("instance-id")
    began = time.time()
    bounded = Bounded()

    def state() -> Any:
        file = registrations.path_of(config.nodes, instance_id)
        own = registrations.parse(file.read_bytes(), instance_id)
        return own.state if own.time >= began - registrations.FRESH_S else "old"

    problem = ""
    while time.time() < began + seconds:
        try:
            problem = f"it says {bounded.call(state, timeout_s=5)}"
        except NodeError as error:
            problem = str(error)
        if problem == "it says ready":
            return
        time.sleep(_PAUSE_S)
    raise NodeError(
        f"this node has not registered in {config.nodes} within {seconds:g} s: {problem}. "
        "journalctl -u mask-rcnn-register says more"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
