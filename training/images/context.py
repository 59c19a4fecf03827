"""The build context: a folder with the sources of one image, and nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.errors import UsageError
from training.images.recipes import Recipe
from training.images.sources import find_sources

_TIME = 0
"""Of all files: an engine may count a file's time as a change."""


@contextmanager
def build_context(project: Path, recipe: Recipe) -> Iterator[Path]:
    """Make the context in a temporary folder, which goes at the end.

    Raises:
        UsageError: The image has no Dockerfile, or one of its sources is missing.
    """
    missing = [
        name for name in (recipe.dockerfile, *recipe.sources) if not (project / name).exists()
    ]
    if missing:
        raise UsageError(
            f"{project / missing[0]}: not there, so that the image cannot be built from here"
        )
    with tempfile.TemporaryDirectory(prefix="mask-rcnn-context-") as name:
        root = Path(name)
        for path, file in find_sources(project, recipe.sources).items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            target.chmod(0o644)
            os.utime(target, (_TIME, _TIME))
        yield root
