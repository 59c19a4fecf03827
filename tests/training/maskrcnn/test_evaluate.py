from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from training.maskrcnn import evaluate, matches
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.detect import Detector
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.evaluation_files import write_predictions
from training.maskrcnn.matches import Matches
from training.maskrcnn.model.maskrcnn import build_model


def test_broken_pictures_are_left_out_and_told(shapes: Any, tiny: Any, tmp_path: Path) -> None:
    import shutil

    from training.layout import TrainChannel

    data = TrainChannel(tmp_path / "data")
    shutil.copytree(shapes.root, data.root)
    first = min(data.images("val2017").iterdir())
    first.write_bytes(b"oops")
    split = read_split(data, "val2017")
    model = build_model(tiny(), categories=4, sum_over_ranks=lambda tensor: tensor)
    result = evaluate.evaluate(TorchEngine(), model, split, tiny(), is_stop_requested=lambda: False)
    assert result is not None
    (told,) = result.broken
    assert first.name in told
    with pytest.raises(Exception, match="more than max_broken_pictures 0"):
        evaluate.evaluate(
            TorchEngine(),
            model,
            split,
            tiny(max_broken_pictures=0),
            is_stop_requested=lambda: False,
        )
    assert model.training


class OneRank(TorchEngine):
    """One of several ranks, whose others are not there."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__()
        self.rank, self.size = rank, size

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def broadcast(self, value: Any, *, root: int = 0) -> Any:
        return value


def detections_of(engine: TorchEngine, split: Any, hyperparameters: Any) -> list[dict[str, Any]]:
    torch.manual_seed(0)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    result = evaluate.evaluate(
        engine, model, split, hyperparameters, is_stop_requested=lambda: False
    )
    assert result is not None
    return result.detections.to_coco()


def matches_of(split: Any, hyperparameters: Any, *, ranks: int) -> tuple[Any, ...]:
    """Return counts of pictures, by id, and confusion, put together from all ranks."""
    torch.manual_seed(0)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    results = [
        evaluate.evaluate(
            OneRank(rank, ranks), model, split, hyperparameters, is_stop_requested=lambda: False
        )
        for rank in range(ranks)
    ]
    parts = [result.matches for result in results if result is not None]
    joined = Matches.joined(parts, categories=4)
    counts = zip(joined.image_ids, joined.right, joined.wrong, joined.missed, strict=True)
    return [tuple(map(int, one)) for one in counts], joined.confusion.tolist()


def test_objects_are_matched_the_same_on_any_number_of_ranks(
    shapes: Any, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A model that has learned nothing has no good scores.
    monkeypatch.setattr(matches, "MIN_SCORE", 0.0)
    split = read_split(shapes, "val2017")
    hyperparameters = tiny(score_threshold=0.0)
    counts, confusion = alone = matches_of(split, hyperparameters, ranks=1)
    assert [image_id for image_id, *_ in counts] == [record.image_id for record in split.records]
    assert sum(map(sum, confusion)) >= 10 * len(split.records)
    assert matches_of(split, hyperparameters, ranks=3) == alone


@pytest.mark.parametrize("size", [3, 7])
def test_each_picture_is_on_one_rank_and_its_detections_do_not_depend_on_which(
    shapes: Any, tiny: Any, size: int
) -> None:
    split = read_split(shapes, "val2017")
    hyperparameters = tiny(score_threshold=0.0)
    alone = detections_of(OneRank(0, 1), split, hyperparameters)
    assert {d["image_id"] for d in alone} == {record.image_id for record in split.records}
    shares = [detections_of(OneRank(rank, size), split, hyperparameters) for rank in range(size)]
    assert [len({d["image_id"] for d in share}) for share in shares] == (
        [2, 1, 1] if size == 3 else [1, 1, 1, 1, 0, 0, 0]
    )
    together = sorted((d for share in shares for d in share), key=lambda d: d["image_id"])
    assert together == alone


def test_more_loaders_change_nothing(shapes: Any, tiny: Any) -> None:
    split = read_split(shapes, "train2017")
    one, four = (
        detections_of(OneRank(0, 1), split, tiny(score_threshold=0.0, num_workers=workers))
        for workers in (0, 4)
    )
    assert one == four
    assert len(one) == 10 * len(split.records)


def test_a_request_to_stop_is_answered_within_a_few_pictures(
    shapes: Any, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(shapes, "train2017")
    model = build_model(tiny(), categories=4, sum_over_ranks=lambda tensor: tensor)
    seen = []
    look = Detector.look

    def count(detector: Any, pixels: torch.Tensor) -> Any:
        seen.append(pixels)
        return look(detector, pixels)

    monkeypatch.setattr(Detector, "look", count)
    # Every picture seems to take longer than the ranks may go without asking.
    monkeypatch.setattr("training.maskrcnn.stop_check.CHECK_PERIOD_S", 0.0)
    result = evaluate.evaluate(
        TorchEngine(), model, split, tiny(), is_stop_requested=lambda: len(seen) >= 3
    )
    assert result is None
    assert len(seen) == 3
    assert model.training


def test_without_masks_boxes_alone_are_evaluated(shapes: Any, tiny: Any, tmp_path: Path) -> None:
    split = read_split(shapes, "val2017")
    hyperparameters = tiny(mode_mask=False, score_threshold=0.0)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    result = evaluate.evaluate(
        TorchEngine(), model, split, hyperparameters, is_stop_requested=lambda: False
    )
    assert result is not None
    assert {name.split("/")[0] for name in result.metrics} == {"mAP(bbox)", "mAR(bbox)"}
    write_predictions(tmp_path / "p.json", split, result.detections, step=1)
    (first, *_) = json.loads((tmp_path / "p.json").read_text())["detections"]
    assert set(first) == {"image_id", "category_id", "bbox", "score"}
    assert (list(result.comparison.precision), result.judged_by) == (["bbox"], "bbox")


@pytest.mark.parametrize("mode_mask", [True, False])
def test_a_model_that_finds_nothing_has_zeros(shapes: Any, tiny: Any, mode_mask: bool) -> None:
    split = read_split(shapes, "val2017")
    hyperparameters = tiny(score_threshold=1.0, mode_mask=mode_mask)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    result = evaluate.evaluate(
        TorchEngine(), model, split, hyperparameters, is_stop_requested=lambda: False
    )
    assert result is not None
    assert result.metrics["mAP(bbox)/IoU=0.5:0.95"] == 0
    assert set(result.metrics.values()) <= {0, -1}
    assert len(result.detections) == 0
