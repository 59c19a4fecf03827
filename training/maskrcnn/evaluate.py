"""Evaluation spread over the ranks: each picture on one rank, mAP on rank 0.

A rank loads the next pictures and draws the masks of the last ones in threads while its model
runs. Detections are kept as arrays, and their masks encoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor

from training.errors import JobFailed
from training.maskrcnn.ahead import ahead
from training.maskrcnn.coco_eval import Comparison, IouType, compare
from training.maskrcnn.data.coco import Split
from training.maskrcnn.data.dataset import EvaluationPictures
from training.maskrcnn.data.pictures import BrokenPicture
from training.maskrcnn.data.record import Record
from training.maskrcnn.detect import Detector
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.found import Found
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.matches import Matches, match
from training.maskrcnn.model.maskrcnn import Detections, MaskRCNN
from training.maskrcnn.step import AUTOCAST_TYPES
from training.maskrcnn.stop_check import StopCheck
from training.maskrcnn.together import on_rank_0

MOST_LOADERS = 4
"""Threads of a rank that load pictures; `num_workers` where that is less."""
ANSWERS_AHEAD = 4
"""The model may be so many pictures ahead of the drawing of masks."""

Loaded = Future[tuple[Record, Tensor]]
"""A picture: (3, H, W) uint8."""
Answer = tuple[Detections, Record, Tensor]


@dataclass(frozen=True)
class Evaluation:
    """What one split's evaluation found; `matches` and `detections` are those
    of all ranks on rank 0 alone."""

    comparison: Comparison
    judged_by: IouType
    """What tells which model is best, and which picture: masks, without them boxes."""
    matches: Matches
    detections: Found
    broken: tuple[str, ...]

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.comparison.metrics


def evaluate(
    engine: Engine,
    model: MaskRCNN,
    split: Split,
    hyperparameters: Hyperparameters,
    *,
    is_stop_requested: Callable[[], bool],
) -> Evaluation | None:
    """Detect in one split and compare with its truth.

    Pictures go through the model one by one, so that the result does not depend on the number of
    ranks or on which pictures are padded together.

    Returns:
        None where any rank was asked to stop.

    Raises:
        JobFailed: More than `max_broken_pictures` cannot be used.
    """
    share = _Share(engine, split, hyperparameters)
    detector = Detector(
        model,
        engine.device,
        precision=AUTOCAST_TYPES[hyperparameters.precision],
        category_ids=list(split.categories),
    )
    with _in_evaluation_mode(model):
        if not share.detect(detector, StopCheck(engine, is_stop_requested)):
            return None
    return _judge(engine, split, share, hyperparameters)


class _Share:
    """One rank's pictures: every so-many-th of the split."""

    def __init__(self, engine: Engine, split: Split, hyperparameters: Hyperparameters) -> None:
        self._split = split
        self._pictures = EvaluationPictures(split.records, hyperparameters)
        self._places = range(engine.rank, len(self._pictures), engine.size)
        # A rank that has one picture less takes part in the last check all the same.
        self._turns = -(-len(self._pictures) // engine.size)
        self._loaders = min(max(1, hyperparameters.num_workers), MOST_LOADERS)
        self._has_masks = hyperparameters.mode_mask
        self._parts: list[Found] = []
        self.broken: list[str] = []
        """Which pictures cannot be used, and why."""

    def detect(self, detector: Detector, stop: StopCheck) -> bool:
        """Detect in all pictures; False where any rank was asked to stop."""
        with ThreadPoolExecutor(self._loaders) as loaders, ThreadPoolExecutor(1) as drawer:
            load = self._pictures.__getitem__
            loaded = ahead(loaders, load, self._places, depth=2 * self._loaders)
            drawn: deque[Future[Found]] = deque()
            for _ in range(self._turns):
                if (answer := self._look(detector, next(loaded, None))) is not None:
                    drawn.append(drawer.submit(detector.locate, *answer))
                if len(drawn) > ANSWERS_AHEAD:
                    self._parts.append(drawn.popleft().result())
                if stop.is_due():
                    loaders.shutdown(wait=False, cancel_futures=True)
                    return False
            self._parts += [part.result() for part in drawn]
        return True

    def take_found(self) -> Found:
        """Return the detections, and forget them."""
        parts, self._parts = self._parts, []
        return Found.joined(parts, with_masks=self._has_masks)

    def match(self, found: Found, kind: IouType) -> Matches:
        """Match the share's detections with its objects."""
        records = (self._split.records[place] for place in self._places)
        return match(records, self._split.categories, found, kind=kind)

    def _look(self, detector: Detector, loaded: Loaded | None) -> Answer | None:
        """Return the model's answer with its picture; None where there is none to show it."""
        if loaded is None:
            return None
        try:
            record, pixels = loaded.result()
        except BrokenPicture as error:
            self.broken.append(str(error))
            return None
        return detector.look(pixels), record, pixels


@contextmanager
def _in_evaluation_mode(model: MaskRCNN) -> Iterator[None]:
    model.eval()
    try:
        yield
    finally:
        model.train()


def _judge(
    engine: Engine, split: Split, share: _Share, hyperparameters: Hyperparameters
) -> Evaluation:
    """Compare all ranks' detections with the truth."""
    kinds: tuple[IouType, ...] = ("bbox", "segm") if hyperparameters.mode_mask else ("bbox",)
    own = share.take_found()
    # Takes longer than the rest of the work after the model: each rank does its part.
    own_matches = share.match(own, kinds[-1])
    found = Found.joined(engine.gather(own), with_masks=hyperparameters.mode_mask)
    matches = Matches.joined(engine.gather(own_matches), categories=len(split.categories))
    broken = tuple(message for of_rank in engine.gather(share.broken) for message in of_rank)
    max_broken = hyperparameters.max_broken_pictures

    def judge() -> Comparison:
        if len(broken) > max_broken:
            raise JobFailed(
                f"{split.name}: {len(broken)} pictures cannot be used, more than "
                f"max_broken_pictures {max_broken}: {broken[0]}"
            )
        return compare(split.records, split.categories, found, kinds=kinds)

    return Evaluation(
        comparison=on_rank_0(engine, judge),
        judged_by=kinds[-1],
        matches=matches,
        detections=found,
        broken=broken,
    )
