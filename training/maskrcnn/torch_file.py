"""Reads files of torch.save, and says of others in one line what they are not."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from training.errors import JobFailed
from training.maskrcnn.older_torch import safe_globals

Classes = Sequence[Callable[..., Any] | tuple[Callable[..., Any], str]]


def read_torch_file(path: Path, *, problem: str, classes: Classes = ()) -> Any:
    """Read a file without executing anything in it; tensors come to the CPU.

    Args:
        problem: What to say of a file that cannot be read, before the reason.
        classes: What the file may hold besides tensors, numbers and texts.

    Raises:
        JobFailed: It cannot be read, in one line and in our words: torch's own advise to execute
            what is in the file.
    """
    try:
        with warnings.catch_warnings(), safe_globals(classes):
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises many kinds
        raise JobFailed(f"{path}: {problem} ({_reason(path, error)})") from error


def is_damaged(path: Path) -> bool:
    """Return whether a file that this version of torch wrote differs from its own checksums.

    torch writes them (CRC-32, as of any .zip), but does not compare them when it reads.
    """
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is not None
    except zipfile.BadZipFile:
        return True


def _reason(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, UnpicklingError) and zipfile.is_zipfile(path):
        return "it holds Python objects, which are not read since they could execute anything"
    return "damaged, or not written by torch.save"
