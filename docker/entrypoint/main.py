"""The commands of a container."""

import os
import sys
import traceback
from typing import List

from .data import data
from .elastic import elastic
from .elastic_host import host
from .errors import FAILED, USAGE, EntrypointError
from .failure import write_failure
from .folders import folders
from .paths import paths_of
from .pod_launcher import launcher
from .pod_worker import worker
from .rank import run_rank
from .say import say
from .session import run_session
from .train import train

_USAGE = (
    "usage: entrypoint train | elastic | host | launcher | worker | "
    "folders --make PATH ... --need PATH ... | data ARGUMENTS | rank | session"
)

_PARTS = {
    "train": train,
    "elastic": elastic,
    "host": host,
    "launcher": launcher,
    "worker": worker,
}
"""What a host of a job runs."""

_INSIDE = {"rank": run_rank, "session": run_session}
"""What is started on a host that runs one of these already."""

_TASKS = {"folders": folders, "data": data}
"""What a container does for a launcher that is outside the VPC."""


def main(arguments: List[str]) -> int:
    """Run a command and return its exit code."""
    command, rest = arguments[:1], arguments[1:]
    paths = paths_of(os.environ)
    if command and command[0] in _INSIDE:
        return _INSIDE[command[0]](os.environ)
    try:
        if command and command[0] in _PARTS:
            return _PARTS[command[0]](os.environ, paths)
        if command and command[0] in _TASKS:
            return _TASKS[command[0]](rest, paths)
    except EntrypointError as error:
        say(str(error))
        write_failure(paths.failure, str(error))
        return FAILED
    except Exception as error:
        # A mistake of ours: its place is in the log, and the job fails by name.
        traceback.print_exc()
        write_failure(paths.failure, f"the entry point failed: {type(error).__name__}: {error}")
        return FAILED
    sys.stderr.write(f"{_USAGE}\n")
    return USAGE
