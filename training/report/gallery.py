"""The pictures of the page: each with its truth beside the prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from training.layout import LogChannel, TrainChannel
from training.report.dataset import MIN_SCORE, Picture, Region, Sample, choose_pictures
from training.report.draw import BadPicture, Drawn, draw_picture
from training.report.evaluation import KIND_NAMES, Evaluation
from training.report.predictions import NoPictures
from training.report.words import count

BUDGET_BYTES = 3_500_000
"""For all data URIs together, so that the page stays under 5 MB."""
EXTREMES = 4
"""So many of the best and of the worst pictures are shown."""


@dataclass(frozen=True)
class Exhibit:
    """A picture as the page shows it."""

    name: str
    drawn: Drawn
    truth: str
    """What is to be seen, in words: 2 person, 1 dog."""
    predicted: str
    hidden: str
    verdict: str
    """How good the prediction is; empty where that was not asked."""


@dataclass(frozen=True)
class Extremes:
    """The best and the worst pictures of the split."""

    lead: str
    groups: tuple[tuple[str, tuple[Exhibit, ...]], ...]
    """Titles with pictures; a group that has none is left out."""


@dataclass(frozen=True)
class Gallery:
    """The pictures, and what a reader must know about them."""

    lead: str
    exhibits: tuple[Exhibit, ...] = ()
    problems: tuple[str, ...] = ()
    extremes: Extremes | None = None


def build_gallery(
    log: LogChannel, train: TrainChannel | None, evaluation: Evaluation | None = None
) -> Gallery:
    """Draw pictures of the last evaluation; where there are none, the lead says why.

    Args:
        evaluation: Says which pictures are the best and the worst.
    """
    named = () if evaluation is None else (*evaluation.best, *evaluation.worst)
    try:
        sample = choose_pictures(log, train, named=named)
    except NoPictures as reason:
        return Gallery(str(reason))
    easel = _Easel()
    extremes = None
    # A job that was killed may have left the files of two evaluations.
    if evaluation is not None and _is_of(sample, evaluation):
        extremes = _extremes(easel, sample, evaluation)
    exhibits = tuple(easel.exhibits((picture, "") for picture in sample.pictures))
    step = "" if sample.step is None else f" at step {sample.step:,}"
    lead = (
        f"{len(exhibits)} of {count(sample.chosen_from, 'picture')} of {sample.split}, evenly "
        f"spread{step}. Detections with a score of {MIN_SCORE:g} or more are drawn."
    )
    return Gallery(lead, exhibits, tuple(dict.fromkeys(easel.problems)), extremes)


class _Easel:
    """Draws pictures as long as there is room on the page."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._spent = 0

    def exhibits(self, pictures: Iterable[tuple[Picture, str]]) -> Iterable[Exhibit]:
        """Yield pictures with their verdicts; one that cannot be decoded becomes a problem."""
        for picture, verdict in pictures:
            try:
                drawn = draw_picture(picture)
            except BadPicture as error:
                self.problems.append(f"{error}.")
                continue
            self._spent += len(drawn.truth) + len(drawn.predicted)
            if self._spent > BUDGET_BYTES:
                return
            yield Exhibit(
                name=picture.path.name,
                drawn=drawn,
                truth=_contents(picture.truth) or "no object",
                predicted=_contents(picture.predicted) or "nothing detected",
                hidden=f"{picture.hidden:,} weaker not drawn" if picture.hidden else "",
                verdict=verdict,
            )


def _is_of(sample: Sample, evaluation: Evaluation) -> bool:
    return (sample.split, sample.step) == (evaluation.split, evaluation.step)


def _extremes(easel: _Easel, sample: Sample, evaluation: Evaluation) -> Extremes | None:
    verdicts = _verdicts(evaluation)
    groups = []
    for title, image_ids in (("Best", evaluation.best), ("Worst", evaluation.worst)):
        pictures = (
            (sample.named[image_id], verdicts.get(image_id, ""))
            for image_id in image_ids
            if image_id in sample.named
        )
        if exhibits := tuple(islice(easel.exhibits(pictures), EXTREMES)):
            groups.append((title, exhibits))
    return Extremes(_extremes_lead(evaluation), tuple(groups)) if groups else None


def _extremes_lead(evaluation: Evaluation) -> str:
    matching = evaluation.matching
    return (
        f"By F1, the harmonic mean of precision and recall, over all "
        f"{count(len(evaluation.pictures.ids), 'picture')} of {evaluation.split}. An object is "
        f"found where a detection of its class with a score of {matching.min_score:g} or more "
        f"overlaps it with an IoU of {matching.min_iou:g} or more, by {KIND_NAMES[matching.kind]}."
    )


def _verdicts(evaluation: Evaluation) -> Mapping[int, str]:
    pictures = evaluation.pictures
    columns = zip(
        pictures.ids, pictures.right, pictures.wrong, pictures.missed, pictures.f1, strict=True
    )
    return {
        image_id: f"F1 {f1 or 0:.2f}: {right} found, {wrong} wrong, {missed} missed"
        for image_id, right, wrong, missed, f1 in columns
    }


def _contents(regions: Sequence[Region]) -> str:
    amounts = Counter(
        f"{region.category} crowd" if region.crowd else region.category for region in regions
    )
    return ", ".join(f"{amount} {category}" for category, amount in amounts.most_common())
