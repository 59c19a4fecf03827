"""Runs a host's part of the all-reduce in the job's image: `python -m … IMAGE`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..conductor import engine
from ..errors import NodeError

INSIDE = "/all_reduce_rank.py"


def command(image: str) -> list[str]:
    """Return the container engine's command line; the caller's lines go in by stdin."""
    program = Path(__file__).with_name("all_reduce_rank.py")
    return [
        *(engine.engine(), "run", "--rm", "--interactive"),
        *engine.device_arguments(),
        f"--volume={program}:{INSIDE}:ro",
        "--entrypoint=python3",
        *(image, "-I", INSIDE),
    ]


def main(image: str) -> None:
    """Fetch the image, and become the engine."""
    engine.pull(image)
    arguments = command(image)
    os.execvp(arguments[0], arguments)  # noqa: S606 (a list of arguments)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except NodeError as error:
        sys.exit(str(error))
