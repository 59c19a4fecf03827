"""The pictures of the page: each with its truth beside the prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from training.layout import LogChannel, TrainChannel
from training.report.dataset import MIN_SCORE, NoPictures, Picture, Region, choose_pictures
from training.report.draw import BadPicture, Drawn, draw_picture
from training.report.words import count

BUDGET_BYTES = 3_500_000
"""For all data URIs together, so that the page stays under 5 MB."""


@dataclass(frozen=True)
class Exhibit:
    """A picture as the page shows it."""

    name: str
    drawn: Drawn
    truth: str
    """What is to be seen, in words: 2 person, 1 dog."""
    predicted: str
    hidden: str


@dataclass(frozen=True)
class Gallery:
    """The pictures, and what a reader must know about them."""

    lead: str
    exhibits: tuple[Exhibit, ...]
    problems: tuple[str, ...]


def build_gallery(log: LogChannel, train: TrainChannel | None) -> Gallery:
    """Draw the pictures of the last evaluation; where there are none, the lead says why."""
    try:
        sample = choose_pictures(log, train)
    except NoPictures as reason:
        return Gallery(str(reason), (), ())
    exhibits: list[Exhibit] = []
    problems: list[str] = []
    spent = 0
    for picture in sample.pictures:
        try:
            drawn = draw_picture(picture)
        except BadPicture as error:
            problems.append(f"{error}.")
            continue
        spent += len(drawn.truth) + len(drawn.predicted)
        if spent > BUDGET_BYTES:
            break
        exhibits.append(_exhibit(picture, drawn))
    step = "" if sample.step is None else f" at step {sample.step:,}"
    lead = (
        f"{len(exhibits)} of {count(sample.chosen_from, 'picture')} of {sample.split}, evenly "
        f"spread{step}. Detections with a score of {MIN_SCORE:g} or more are drawn."
    )
    return Gallery(lead, tuple(exhibits), tuple(problems))


def _exhibit(picture: Picture, drawn: Drawn) -> Exhibit:
    return Exhibit(
        name=picture.path.name,
        drawn=drawn,
        truth=_contents(picture.truth) or "no object",
        predicted=_contents(picture.predicted) or "nothing detected",
        hidden=f"{picture.hidden:,} weaker not drawn" if picture.hidden else "",
    )


def _contents(regions: Sequence[Region]) -> str:
    amounts = Counter(
        f"{region.category} crowd" if region.crowd else region.category for region in regions
    )
    return ", ".join(f"{amount} {category}" for category, amount in amounts.most_common())
