"""Reads the detections of the last evaluation, without decoding all of them at once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.layout import LogChannel
from training.report.tensorpack import find_attempts, newest_outputs

_IMAGE_ID = re.compile(r'"image_id":\s*(\d+)')
_DETECTIONS = re.compile(r'"detections":\s*\[')
_LIST = re.compile(r"\[")


class NoPictures(Exception):
    """There are no pictures to show; the message says why, in a sentence."""


@dataclass(frozen=True)
class Predictions:
    """What an evaluation has found, not yet decoded: it may be a hundred megabytes."""

    split: str
    step: int | None
    image_ids: frozenset[int] | None
    """The pictures that it is about; None where the file does not say so."""
    text: str
    begin: re.Pattern[str]
    """Where the list of detections begins, in COCO's result format."""

    def __iter__(self) -> Iterator[Any]:
        """Decode the detections, one after the other.

        Raises:
            ValueError: The list is not whole.
        """
        decoder = json.JSONDecoder()
        match = self.begin.search(self.text)
        at = match.end() if match else len(self.text)
        separator = re.compile(r"[\s,]*")
        while True:
            space = separator.match(self.text, at)
            at = space.end() if space else at
            if self.text[at : at + 1] == "]":
                return
            value, at = decoder.raw_decode(self.text, at)
            yield value

    def is_about(self) -> Callable[[int], bool]:
        """Return what tells whether a picture was evaluated and its detections are here.

        Where the file does not say so: one between the first and the last that have any was
        evaluated too, and nothing was found on it.
        """
        if self.image_ids is not None:
            return self.image_ids.__contains__
        detected = [int(image_id) for image_id in _IMAGE_ID.findall(self.text)]
        low, high = (min(detected), max(detected)) if detected else (-math.inf, math.inf)
        return lambda image_id: low <= image_id <= high


def read_predictions(log: LogChannel) -> Predictions:
    """Return our trainer's detections, or those that TensorPack left.

    Raises:
        NoPictures: There are none, or they cannot be read.
    """
    if log.predictions.exists():
        text = _text(log.predictions)
        return Predictions(*_head(text), text, _DETECTIONS)
    outputs = newest_outputs(find_attempts(log.root))
    if outputs is None:
        raise NoPictures("No evaluation has left its predictions, so there are none to show.")
    return Predictions(outputs.split, outputs.step, None, _text(outputs.path), _LIST)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise NoPictures(f"{path.name} cannot be read.") from None


def _head(text: str) -> tuple[str, int | None, frozenset[int] | None]:
    """Return split, step and pictures, which stand outside of the list of detections.

    The list may hold a hundred megabytes: it is cut out before the rest is parsed.
    """
    match = _DETECTIONS.search(text)
    if match is not None:
        try:
            head = json.loads(text[: match.end()] + text[text.rindex("]") :])
            step, images = head.get("step"), head.get("images")
            return (
                str(head["split"]),
                step if isinstance(step, int) else None,
                None if images is None else frozenset(map(int, images)),
            )
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass
    raise NoPictures("predictions.json is not whole: the job was stopped while it was written.")
