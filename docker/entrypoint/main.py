"""The commands of a container."""

import os
import sys
import traceback
from typing import List

from .errors import FAILED, USAGE, EntrypointError
from .failure import write_failure
from .folders import folders
from .paths import paths_of
from .rank import run_rank
from .say import say
from .train import train

_USAGE = "usage: entrypoint train | folders --make PATH ... --need PATH ... | rank"


def main(arguments: List[str]) -> int:
    """Run a command and return its exit code."""
    command, rest = arguments[:1], arguments[1:]
    paths = paths_of(os.environ)
    if command == ["rank"]:
        return run_rank(os.environ)
    try:
        if command == ["train"]:
            return train(os.environ, paths)
        if command == ["folders"]:
            return folders(rest, paths)
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
