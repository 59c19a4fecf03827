"""Reads evaluation.json: what the last evaluation found by category and by picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from training.layout import LogChannel

VERSION = 1

Kind = Literal["bbox", "segm"]
KIND_NAMES: Mapping[Kind, str] = {"segm": "masks", "bbox": "boxes"}
"""As the page calls them, in its order."""
RECALLS = 101
"""Points of a curve: recall 0, 0.01, ..., 1."""

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Precisions = Annotated[tuple[Share, ...], Field(min_length=RECALLS, max_length=RECALLS)]


class BadEvaluation(Exception):
    """The file is there and cannot be used; the message says why, in a sentence."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Category(_Model):
    """A class of objects."""

    id: int
    name: str
    objects: Count
    """Without crowds."""
    ap: Mapping[Kind, Mapping[str, Share | None]]
    """Average precision by kind and range of IoU; None where there is no object."""


class Matching(_Model):
    """What detections had to be, to be matched with objects."""

    kind: Kind
    min_score: Share
    min_iou: Share


class PictureCounts(_Model):
    """Of each picture."""

    ids: tuple[int, ...]
    right: tuple[Count, ...]
    wrong: tuple[Count, ...]
    missed: tuple[Count, ...]
    f1: tuple[Share | None, ...]


class Evaluation(_Model):
    """The file (`LogChannel.evaluation`)."""

    version: Literal[1]
    split: str
    step: int
    categories: tuple[Category, ...]
    curves: Mapping[Kind, Mapping[str, tuple[Precisions | None, ...]]]
    """Of each category; None where it has no object."""
    matching: Matching
    confusion: tuple[tuple[int | None, int | None, Count], ...]
    """True category, predicted one, how often; None: nothing there, or missed."""
    pictures: PictureCounts
    best: tuple[int, ...]
    worst: tuple[int, ...]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        curves = [curve for of_kind in self.curves.values() for curve in of_kind.values()]
        if any(len(curve) != len(self.categories) for curve in curves):
            raise ValueError("curves are not one for each category")
        if not all(self.curves.values()):
            raise ValueError("a kind has no curves")
        of_pictures = self.pictures.model_dump().values()
        if len({len(values) for values in of_pictures}) != 1:
            raise ValueError("numbers are not one for each picture")
        return self

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Those that were evaluated, masks first."""
        return tuple(kind for kind in KIND_NAMES if kind in self.curves)


def read_evaluation(log: LogChannel) -> Evaluation | None:
    """Return the last evaluation; None where a trainer left no such file.

    Raises:
        BadEvaluation: It cannot be used.
    """
    name = log.evaluation.name
    try:
        document = json.loads(log.evaluation.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        raise BadEvaluation(f"{name} cannot be read or is not whole.") from None
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise BadEvaluation(
            f"{name} is of version {version}, and this report knows version {VERSION} only."
        )
    try:
        return Evaluation.model_validate(document)
    except ValidationError as error:
        raise BadEvaluation(f"{name} is not as expected: {_first(error)}.") from None


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]
