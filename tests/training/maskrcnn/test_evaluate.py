from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pycocotools import mask as coco_mask

from training.maskrcnn import evaluate
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.evaluate import to_coco, write_predictions
from training.maskrcnn.model.maskrcnn import build_model


def found(boxes: list[list[float]], probability: float = 1) -> dict[str, torch.Tensor]:
    count = len(boxes)
    return {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "labels": torch.full((count,), 2),
        "scores": torch.full((count,), 0.5),
        "masks": torch.full((count, 1, 28, 28), probability),
    }


def test_detections_come_back_at_the_size_of_the_file(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    (detection,) = to_coco(found([[20, 10, 40, 30]]), record, resized=(40, 80), category_ids=[3, 7])
    assert detection["bbox"] == [10, 5, 10, 10]
    assert (detection["image_id"], detection["category_id"]) == (1, 7)
    rows, columns = np.nonzero(coco_mask.decode(detection["segmentation"]))
    assert detection["segmentation"]["size"] == [20, 40]
    # The mask reaches over its box by half a cell, as in torchvision.
    corners = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert corners == pytest.approx((10, 5, 20, 15), abs=1)
    json.dumps(detection)


def test_more_masks_than_are_drawn_at_once_keep_their_order(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    boxes = [[float(left), 2, float(left + 4), 12] for left in range(36)]
    detections = to_coco(found(boxes), record, resized=(20, 40), category_ids=[3, 7])
    assert [d["bbox"][0] for d in detections] == list(range(36))
    drawn = [coco_mask.toBbox(d["segmentation"])[0] for d in detections]
    assert drawn == pytest.approx(range(36), abs=1)
    assert drawn == sorted(drawn)


def test_no_detections_are_an_empty_list(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    assert to_coco(found([]), record, resized=(20, 40), category_ids=[3, 7]) == []


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


def test_predictions_hold_the_first_pictures_only(
    coco_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(coco_set.write([], pictures=3), "train2017")
    monkeypatch.setattr(evaluate, "PREDICTED_PICTURES", 2)
    detections = [{"image_id": number, "score": 0.5} for number in (1, 2, 3, 2)]
    path = tmp_path / "predictions.json"
    write_predictions(path, split, detections, step=8)
    document = json.loads(path.read_text())
    assert (document["split"], document["step"]) == ("train2017", 8)
    assert [d["image_id"] for d in document["detections"]] == [1, 2, 2]
