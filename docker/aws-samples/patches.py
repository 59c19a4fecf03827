"""What AWS's optimized Mask R-CNN needs changed to run as a job here.

    python3 patches.py SOURCES

The sources are those of aws-samples/mask-rcnn-tensorflow@99dda64. Standard library and Python 3.6
syntax only: it runs in the image.
"""

import os
import sys
from typing import Dict, List, NamedTuple


class Patch(NamedTuple):
    """Replaces one exact text, which occurs once in its file."""

    path: str
    old: str
    new: str
    why: str


PATCHES = (
    Patch(
        path="MaskRCNN/train.py",
        old="            log_launch_config(args.log_full_git_diff)\n",
        new="",
        why="It prints every environment variable, credentials too, into the job's log, and ends "
        "the job where the folder is no git checkout or `ps` finds no mpirun.",
    ),
    Patch(
        path="MaskRCNN/train.py",
        old="                every_k_epochs=20),\n",
        new="                every_k_epochs=1),\n",
        why="A job of 24 epochs that loses a host would begin anew until epoch 20. The ten newest "
        "checkpoints stay, as before.",
    ),
    Patch(
        path="MaskRCNN/model/boxclass_head.py",
        old="@under_name_scope()\ndef boxclass_losses(",
        new="@under_name_scope(name_scope='fastrcnn_losses')\ndef boxclass_losses(",
        why="Its losses are printed under the names that the metric definitions of the job look "
        "for, those of TensorPack. No variable lies in this scope.",
    ),
)


class PatchError(Exception):
    """The sources are not those that the patches were written for."""


def apply(sources: str) -> List[Patch]:
    """Change the sources and return what was changed; nothing is written unless all fits.

    Raises:
        PatchError: A file is missing, or the old text is not in it exactly once.
    """
    changed: Dict[str, str] = {}
    for patch in PATCHES:
        path = os.path.join(sources, patch.path)
        if path not in changed:
            changed[path] = _read(path)
        count = changed[path].count(patch.old)
        if count != 1:
            raise PatchError(f"{path}: expected {patch.old!r} once, found it {count} times")
        changed[path] = changed[path].replace(patch.old, patch.new)
    for path, text in changed.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return list(PATCHES)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise PatchError(f"{path}: cannot be read ({error.strerror})")


def main(arguments: List[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: patches.py SOURCES\n")
        return 2
    try:
        applied = apply(arguments[0])
    except PatchError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    for patch in applied:
        sys.stdout.write(f"{patch.path}: {patch.why}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
