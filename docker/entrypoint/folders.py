"""`folders`: makes and looks for folders on a file system that this container has mounted.

Nobody outside the network can do so: the launcher starts one container for it before the job
(training/platforms/sagemaker/preparation.py).
"""

import argparse
import os
from itertools import chain
from typing import List

from .errors import DONE, EntrypointError
from .paths import MlPaths
from .say import say

CHANNEL = "root"
"""The channel that has the whole file system."""


def folders(arguments: List[str], paths: MlPaths) -> int:
    """Look at all folders, then make those of `--make`.

    Raises:
        EntrypointError: `missing: P` for one of `--need` that is not there, `not empty: P` for one
            of `--make` that holds something: the launcher knows these words.
    """
    parser = argparse.ArgumentParser(prog="folders")
    parser.add_argument("--make", nargs="+", action="append", default=[], metavar="PATH")
    parser.add_argument("--need", nargs="+", action="append", default=[], metavar="PATH")
    wanted = parser.parse_args(arguments)
    needed = list(chain.from_iterable(wanted.need))
    made = list(chain.from_iterable(wanted.make))
    root = paths.channel(CHANNEL)
    if not os.path.isdir(root):
        raise EntrypointError(f"{root}: is no folder; the job has no channel {CHANNEL!r}")
    for path in needed:
        if not os.path.isdir(_below(root, path)):
            raise EntrypointError(f"missing: {path}{_what_is_there(root, path)}")
    for path in made:
        if os.path.isdir(_below(root, path)) and os.listdir(_below(root, path)):
            raise EntrypointError(f"not empty: {path}")
    for path in made:
        _make(root, path)
    return DONE


def _what_is_there(root: str, path: str) -> str:
    """Say what the nearest folder above holds: a path is often wrong in one place only."""
    nearest = _below(root, path)
    while not os.path.isdir(nearest):
        nearest = os.path.dirname(nearest)
    names = ", ".join(sorted(os.listdir(nearest))[:20]) or "nothing"
    above = os.path.relpath(nearest, os.path.realpath(root))
    return f" ({'the file system' if above == '.' else above} has {names})"


def _make(root: str, path: str) -> None:
    try:
        os.makedirs(_below(root, path), exist_ok=True)
    except OSError as error:
        raise EntrypointError(f"{path}: cannot be made on the file system ({error.strerror})")
    say(f"made: {path}")


def _below(root: str, path: str) -> str:
    """Return where a path lies; it cannot leave the file system."""
    top = os.path.realpath(root)
    folder = os.path.realpath(os.path.join(top, path.lstrip("/")))
    if os.path.commonpath([folder, top]) != top:
        raise EntrypointError(f"{path}: leads out of the file system")
    return folder
