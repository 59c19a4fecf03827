"""Watches for the notice that this instance is taken away: python3 -m node.spot.

Then the register says "leaving" (registration/ looks at the file that is written here), and the
job's part on this host is told to leave.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .. import json_file, paths
from ..errors import NodeError
from ..metadata import Metadata
from .notice import reason_to_leave, rebalance_recommendation

EVERY_S = 2
"""AWS asks for at least every 5 s, and the register is to know within 5 s."""
_LEAVE_S = 110
"""A spot instance is gone two minutes after the notice."""
LEAVE = (sys.executable, str(Path(__file__).parents[1] / "mask-rcnn-node"), "host-leave")


def watch(metadata: Metadata, *, every_s: float = EVERY_S) -> str:
    """Return why this instance is taken away, once it is."""
    problem = recommendation = None
    while True:
        try:
            if reason := reason_to_leave(metadata):
                return reason
            said = rebalance_recommendation(metadata)
            if said and said != recommendation:
                _say(f"AWS recommends to rebalance, {said}: likelier to be interrupted than others")
            recommendation = said
            problem = None
        except NodeError as error:
            if str(error) != problem:
                _say(f"{error}")
            problem = str(error)
        time.sleep(every_s)


def leave(reason: str, command: Sequence[str] = LEAVE) -> None:
    """Tell the register and then the job."""
    _say(f"this node leaves: {reason}")
    paths.RUN.mkdir(parents=True, exist_ok=True)
    json_file.write(paths.LEAVING, {"reason": reason, "time": time.time()})
    try:
        # Its answer goes to the journal: stdout is health/leave.py's.
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=2, timeout=_LEAVE_S, check=False
        )
        _say(f"the job here was told, exit code {done.returncode}")
    except (OSError, subprocess.TimeoutExpired) as error:
        _say(f"the job here could not be told: {error}")


def _say(text: str) -> None:
    sys.stderr.write(f"spot: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    leave(watch(Metadata()))
