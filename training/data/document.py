"""Read an annotation file into its lists: what everything that takes COCO's format begins with."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from training.preflight.finding import Finding, Severity

LISTS = ("images", "annotations", "categories")


class NotCoco(Exception):
    """The file is not there or not of COCO's format; `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True)
class Document:
    """An annotation file. What the lists hold may still be anything."""

    path: Path
    images: list[Any]
    annotations: list[Any]
    categories: list[Any]
    rest: dict[str, Any]
    """The other keys: info, licenses."""
    notes: tuple[Finding, ...]
    """What is odd about the file as a whole, and was read all the same."""


def read_document(path: Path) -> Document:
    """Read an annotation file.

    Raises:
        NotCoco: It cannot be read, is not JSON, or lacks one of COCO's three lists.
    """
    raw, notes = _read_as_utf8(path)
    try:
        # Three times as fast as the standard library's, which takes half a minute for COCO.
        with paused_garbage_collection():
            content = from_json(raw, allow_inf_nan=True)
    except ValueError as error:
        raise _not_coco(
            "annotations-not-json", path, f"is not JSON ({error}). Copy it again"
        ) from None
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise _not_coco(
            "annotations-not-coco", path, f"is not COCO's format: it is a {kind}, not an object"
        )
    wrong = [key for key in LISTS if not isinstance(content.get(key), list)]
    if wrong:
        raise _not_coco(
            "annotations-not-coco",
            path,
            f"is not COCO's format: {' and '.join(wrong)} must be a list. "
            f"It has the keys {', '.join(f'{key!r:.40}' for key in list(content)[:8]) or 'none'}",
        )
    images, annotations, categories = (content.pop(key) for key in LISTS)
    notes += _note_keys_given_twice(path, raw)
    return Document(path, images, annotations, categories, content, tuple(notes))


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Keep the collector from walking, over and over, millions of objects that are all alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_as_utf8(path: Path) -> tuple[bytes, list[Finding]]:
    """Return the file's bytes in UTF-8 without a mark, and a note where they were not."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise _not_coco(
            "annotations-missing",
            path,
            "there is no such annotation file. A data set has annotations/instances_<split>.json "
            "and a folder <split> of pictures",
        ) from None
    except OSError as error:
        raise _not_coco(
            "annotations-unreadable", path, f"cannot be read ({error.strerror})"
        ) from None
    encoding = json.detect_encoding(raw)
    if encoding == "utf-8":
        return raw, []
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        # Neither this nor that: the parser says at which place.
        return raw, []
    name = {"utf-8-sig": "begins with a byte order mark"}.get(encoding, f"is {encoding.upper()}")
    message = (
        f"the annotation file {name}, which many programs refuse, pycocotools too. "
        "Write it as plain UTF-8"
    )
    return text.encode("utf-8", "surrogatepass"), [
        _finding("annotations-encoding", path, message, "warning")
    ]


def _note_keys_given_twice(path: Path, raw: bytes) -> list[Finding]:
    """Tell of a list that is there twice: every parser drops the first in silence.

    Looking at all keys takes half a minute for COCO: it is done only where a list's name stands
    in the file more than once.
    """
    if all(raw.count(f'"{key}"'.encode()) < 2 for key in LISTS):
        return []
    last: list[str] = []

    def keep_keys(pairs: list[tuple[str, Any]]) -> None:
        # Called for the outermost object last.
        last[:] = [key for key, _ in pairs]

    with paused_garbage_collection():
        json.loads(raw, object_pairs_hook=keep_keys)
    twice = [key for key in LISTS if last.count(key) > 1]
    if not twice:
        return []
    message = (
        f"{' and '.join(twice)} stands in the file more than once: only the last one is read, by "
        "this program and all others. Merge them"
    )
    return [_finding("annotations-key-twice", path, message, "error")]


def _not_coco(code: str, path: Path, message: str) -> NotCoco:
    return NotCoco(_finding(code, path, message, "error"))


def _finding(code: str, path: Path, message: str, severity: Severity) -> Finding:
    return Finding(code=code, severity=severity, message=message, path=str(path))
