"""Run a command on one core: `python -m bench.on_core CORE,CORE COMMAND ...`.

Each rank that Horovod starts takes the core at the place of its own number; without Horovod it is
the first.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    cores = [int(core) for core in sys.argv[1].split(",")]
    place = int(os.environ.get("HOROVOD_LOCAL_RANK", "0"))
    os.sched_setaffinity(0, {cores[place]})
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 (the command is the caller's)


if __name__ == "__main__":
    main()
