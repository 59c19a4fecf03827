"""Reads the notebooks, and chooses in them as a user would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "notebooks"

S3_OR_EFS = "mask-rcnn-s3-or-efs"
FSX = "mask-rcnn-fsx"
DATA_PARALLEL = "mask-rcnn-data-parallel"

NAMES = (S3_OR_EFS, FSX, DATA_PARALLEL)

CHOICES: tuple[tuple[str, Mapping[str, str]], ...] = (
    *(
        (S3_OR_EFS, {"SOURCE": source, "ALGORITHM": algorithm})
        for source in ("s3", "efs")
        for algorithm in ("horovod", "tensorpack", "aws-samples")
    ),
    *((FSX, {"ALGORITHM": name}) for name in ("horovod", "tensorpack", "aws-samples")),
    *((DATA_PARALLEL, {"FRAMEWORK": name}) for name in ("pytorch", "tensorflow")),
)
"""Every notebook with everything that its text says may be chosen."""


def choice_id(value: Any) -> str:
    """Return how a choice is called in the name of a test."""
    return value if isinstance(value, str) else "-".join(value.values())


def read(name: str) -> Any:
    """Return a notebook, as nbformat has it."""
    path = FOLDER / f"{name}.ipynb"
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]


def choose(notebook: Any, choice: Mapping[str, str | list[str]]) -> None:
    """Set the constants of the cell `choose` to other values."""
    cell = cell_of(notebook, "choose")
    for constant, value in choice.items():
        line = f"{constant} = {json.dumps(value)}"
        pattern = rf'^{constant} = ("[^"]*"|\[\])'
        cell.source, times = re.subn(pattern, line, cell.source, flags=re.MULTILINE)
        assert times == 1, constant


def cell_of(notebook: Any, cell_id: str) -> Any:
    """Return the cell of an id."""
    [cell] = [cell for cell in notebook.cells if cell.id == cell_id]
    return cell


def code_of(notebook: Any) -> dict[str, str]:
    """Return cell id to source, of all cells of code."""
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}


def text_of(notebook: Any) -> str:
    """Return all text that is not code."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
