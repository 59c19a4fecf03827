"""What Horovod 0.28.1 needs changed to build against today's PyTorch.

Horovod 0.28.1 is the last release and was written for PyTorch 1 (horovod/horovod#3996). This file
is the one source of the changes: the set-up imports it, and an image build can copy it alone and
run it on an unpacked source distribution:

    python3 horovod_patches.py SOURCE_DIR [--cpu-only]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

VERSION = "0.28.1"
SDIST_SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"
"""Of `horovod-0.28.1.tar.gz` as published."""


@dataclass(frozen=True)
class Patch:
    """Replace one exact text, which occurs once in its file."""

    path: str
    """Below the root of the source distribution."""
    old: str
    new: str
    why: str
    cpu_only: bool = False
    """Applies only to a build without CUDA."""


PATCHES = (
    Patch(
        path="CMakeLists.txt",
        old="set(CMAKE_CXX_STANDARD 14)",
        new="set(CMAKE_CXX_STANDARD 20)",
        why="PyTorch's headers are C++20.",
    ),
    Patch(
        path="horovod/torch/CMakeLists.txt",
        old="set(CMAKE_CXX_STANDARD 14)",
        new="set(CMAKE_CXX_STANDARD 20)",
        why="The PyTorch extension sets the standard a second time.",
    ),
    Patch(
        path="cmake/Modules/FindPytorch.cmake",
        old='string(TOUPPER "${Pytorch_CUDA}" Pytorch_CUDA)',
        new='set(Pytorch_CUDA "FALSE")',
        why="Where nvcc is installed, a build for CPUs would demand the CUDA toolkit.",
        cpu_only=True,
    ),
)


class PatchError(Exception):
    """The sources are not those that the patches were written for."""


def apply(source: Path, *, cpu_only: bool) -> list[Patch]:
    """Change an unpacked source distribution and return the patches that applied.

    Nothing is written unless every patch fits.

    Raises:
        PatchError: A file is missing, or the old text is not in it exactly once.
    """
    chosen = [patch for patch in PATCHES if cpu_only or not patch.cpu_only]
    changed: dict[Path, str] = {}
    for patch in chosen:
        file = source / patch.path
        try:
            text = changed[file] if file in changed else file.read_text(encoding="utf-8")
        except OSError as error:
            raise PatchError(f"{file}: cannot be read ({error.strerror})") from error
        count = text.count(patch.old)
        if count != 1:
            raise PatchError(
                f"{file}: expected {patch.old!r} once, found it {count} times. "
                f"The patches are for Horovod {VERSION}, unpatched."
            )
        changed[file] = text.replace(patch.old, patch.new)
    for file, text in changed.items():
        file.write_text(text, encoding="utf-8")
    return chosen


def digest() -> str:
    """Return a short hash of sources and patches, for the key of a cached build."""
    data = json.dumps([VERSION, SDIST_SHA256, [asdict(patch) for patch in PATCHES]])
    return hashlib.sha256(data.encode()).hexdigest()[:12]


def main() -> int:
    parser = argparse.ArgumentParser(description="Patch unpacked Horovod sources.")
    parser.add_argument("source", type=Path, help="folder of the unpacked source distribution")
    parser.add_argument("--cpu-only", action="store_true", help="for a build without CUDA")
    arguments = parser.parse_args()
    try:
        applied = apply(arguments.source, cpu_only=arguments.cpu_only)
    except PatchError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    for patch in applied:
        sys.stdout.write(f"{patch.path}: {patch.new}  ({patch.why})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
