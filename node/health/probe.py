"""What a node says of itself: `python3 -m node.health.probe`, started over SSH by the head.

It reads one line of JSON (`Wanted`); answers each line `time` with its clock, in seconds since
1970; and at the line `go` looks at everything side by side and prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TextIO, Union

from .check import Check, failed
from .fabric import check_fabric
from .gpus import check_gpus
from .kernel_log import check_kernel_log
from .machine import (
    check_clock_service,
    check_disks,
    check_memory,
    check_runtime,
    check_uptime,
)
from .mounts import check_mount
from .wanted import Wanted

Look = Callable[[], Union[Check, Iterable[Check], None]]

PATIENCE_S = 2.0
"""Beyond a check's own limit, for what comes around it."""


def looks(wanted: Wanted) -> dict[str, Look]:
    """Return all that is to be looked at, each by its name."""
    time_s = wanted.timeout_s
    found: dict[str, Look] = {
        mount.name: lambda mount=mount: check_mount(mount, timeout_s=time_s)  # type: ignore[misc]
        for mount in wanted.mounts
    }
    found["gpus"] = lambda: check_gpus(wanted.gpus, timeout_s=time_s / 2)
    if wanted.gpus:
        found["xid"] = lambda: check_kernel_log(timeout_s=time_s / 2)
    found["efa"] = lambda: check_fabric(wanted.efa_interfaces, timeout_s=time_s)
    found["disk"] = lambda: check_disks(wanted.disks)
    found["memory"] = check_memory
    found["runtime"] = lambda: check_runtime(wanted.runs_in, timeout_s=time_s)
    found["chrony"] = lambda: check_clock_service(timeout_s=time_s)
    found["uptime"] = check_uptime
    return found


def look_at_all(found: dict[str, Look], *, timeout_s: float) -> list[Check]:
    """Look side by side; what is not done in time has failed.

    Raises:
        Exception: A check has a bug.
    """
    results: dict[str, list[Check]] = {}
    errors: list[BaseException] = []

    def run(name: str, look: Look) -> None:
        try:
            seen = look()
            results[name] = [seen] if isinstance(seen, Check) else list(seen or ())
        except BaseException as error:
            errors.append(error)

    threads = {
        # Daemons: one that hangs in the kernel does not keep the program from its end.
        name: threading.Thread(target=run, args=(name, look), daemon=True)
        for name, look in found.items()
    }
    for thread in threads.values():
        thread.start()
    deadline = time.monotonic() + timeout_s
    for thread in threads.values():
        thread.join(max(0.0, deadline - time.monotonic()))
    if errors:
        raise errors[0]
    late = failed_late(timeout_s)
    return [check for name in found for check in results.get(name, [late(name)])]


def failed_late(timeout_s: float) -> Callable[[str], Check]:
    return lambda name: failed(name, f"not done within {timeout_s:g} s: it hangs")


def main(source: TextIO, target: TextIO) -> int | None:
    """Answer the head's lines."""
    wanted = Wanted.from_line(source.readline())
    for line in source:
        if line.strip() == "time":
            target.write(f"{time.time():.6f}\n")
            target.flush()
            continue
        checks = look_at_all(looks(wanted), timeout_s=wanted.timeout_s + PATIENCE_S)
        target.write(json.dumps([check.to_json() for check in checks]) + "\n")
        target.flush()
        return 0
    return 1  # The head has gone.


if __name__ == "__main__":
    sys.exit(main(sys.stdin, sys.stdout))
