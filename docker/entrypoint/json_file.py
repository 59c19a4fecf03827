"""Reads and writes files that hold one JSON object, and writes others as safely."""

import json
import os
import tempfile
from typing import Any, Dict

from .errors import EntrypointError


def read_object(path: str) -> Dict[str, Any]:
    """Return a file's object.

    Raises:
        EntrypointError: It cannot be read, is not JSON, or holds something else.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise EntrypointError(
            f"{path}: cannot be read ({error.strerror}). SageMaker writes it before it starts a "
            "container; elsewhere whoever starts the container has to."
        )
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise EntrypointError(f"{path}: is not JSON ({error})")
    if not isinstance(document, dict):
        raise EntrypointError(
            f"{path}: holds a {type(document).__name__}; expected an object of names and values"
        )
    return document


def write_object(path: str, document: Dict[str, Any]) -> None:
    """Write an object whole or not at all; several hosts may write the same one at a time."""
    write_text(path, json.dumps(document, indent=2) + "\n")


def write_text(path: str, text: str) -> None:
    """Write a text whole or not at all, so that nobody reads half of it."""
    folder, name = os.path.split(path)
    handle, aside = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # A temporary file is its owner's alone.
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
